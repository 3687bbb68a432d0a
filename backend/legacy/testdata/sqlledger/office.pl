# Works in an SQL-Ledger as its own pages do, by its modules.
#
#     cd /usr/share/sql-ledger && perl office.pl HOST PORT USER DATABASE < requests > answers
#
# A request is a line of JSON, [what, {arguments}]; its answer is another: a value, or
# {"error": ...} where SQL-Ledger fails.
use strict;
use warnings;
use utf8;
use lib '.';
use DBI;
use JSON::PP;
use SL::Form;
use SL::User;
use SL::CT;
use SL::IC;
use SL::OE;

no warnings;    # SQL-Ledger has its own manner
my ($host, $port, $user, $database) = splice @ARGV;
my %config = (
    dbconnect => "dbi:Pg:dbname=$database;host=$host;port=$port", dbuser => $user, dbpasswd => '', dbdriver => 'Pg',
    dateformat => 'yyyy-mm-dd', numberformat => '1000.00',
);

sub form { return bless {dbdriver => 'Pg', login => 'anna', @_}, 'Form' }

my %doing = (fill => \&fill, customer => \&customer, part => \&part, group => \&group, order => \&order, delete => \&delete_, sql => \&sql);

# What User's dbcreate does in a database that is there, and dbupdate after it; and then
# what a business would have.
sub fill {
    my $dbh = DBI->connect($config{dbconnect}, $user, '') or die $DBI::errstr;
    $dbh->do('SET client_min_messages = error');
    for my $script (qw(Pg-tables Pg-functions Default-chart Mimetype Pg-indices Pg-upgrade-3.2.0-3.2.1)) {
        User->process_query(form(), $dbh, "sql/$script.sql");
    }
    $dbh->do("INSERT INTO defaults (fldname, fldvalue) VALUES ('precision', '2'), ('customernumber', '1000'), ('sonumber', 'so-0')");
    $dbh->do("INSERT INTO department (id, description) VALUES (1, 'North'), (2, 'South')");
    $dbh->do("INSERT INTO employee (login, name, email, employeenumber, sales) VALUES ('anna', 'Anna', 'anna\@example.com', '1', true), ('Anna', 'ANNA', NULL, NULL, false), (NULL, 'Jan', '', '', false)");
    $dbh->do("INSERT INTO partsgroup (partsgroup, code) VALUES ('Parts', 'P'), ('parts', 'p'), ('Hours', NULL)");
    my @groups = map { $_->[0] } @{$dbh->selectall_arrayref('SELECT id FROM partsgroup ORDER BY id')};
    my (@customers, @parts);
    my @names = ("O'Neil", 'anna', 'Anna', 'x") || ("y', '%', 'Ünal');
    for my $i (0 .. 19) {
        push @customers, customer({name => $names[$i % 6], number => $i % 5 ? "c$i" : "C" . ($i + 1), terms => $i % 4 * 7, notes => $i % 3 ? "it's $i" : '',
            address1 => "Stationsweg $i", zipcode => '3811 MH', city => "'s-Hertogenbosch", language_code => $i % 2 ? 'nl' : ''});
    }
    for my $i (0 .. 23) {
        push @parts, part({number => ($i % 2 ? 'a' : 'A') . int($i / 2), description => $names[($i + 1) % 6], item => $i % 3 ? 'part' : 'service', unit => ('ea', 'hr', 'box', '')[$i % 4],
            sellprice => ('10', '0.1', '3.33333', '12.34567', '0')[$i % 5], lastcost => ('0', '0.3', '7.77775', '-1.00005')[$i % 4], onhand => $i * 1.1, group => $i % 4 ? $groups[$i % 3] : undef});
    }
    for my $i (0 .. 59) {
        order({type => $i % 9 == 8 ? 'sales_quotation' : 'sales_order', customer_id => $customers[$i % 11], department => $i % 3, date => ('2026-03-29', '2026-10-25', '2026-07-01')[$i % 3],
            required => $i % 4 ? '' : '2026-12-01', ponumber => ('', 'r', 'R', "it's")[$i % 4], notes => $i % 5 ? '' : 'sold', closed => $i % 7 == 6 ? 1 : 0,
            lines => [map {[$parts[($i + $_) % 24], ('1', '0.1', '-2.5', '3.33333')[$_], ('10', '0.0001', '12.34567', '3.33335')[$_], (0, 15, 33.3, 0.1)[$_]]} 0 .. $i % 5 - 1]});
    }
    $dbh->do('UPDATE customer SET enddate = current_date - 1 WHERE id IN (?, ?, ?)', undef, @customers[3, 7, 8]);
    $dbh->do('UPDATE parts SET obsolete = true WHERE id IN (?, ?)', undef, @parts[2, 5]);
    $dbh->disconnect;
    return;
}

sub customer {
    my ($of) = @_;
    my $form = form(db => 'customer', vc => 'customer', customernumber => $of->{number}, curr => 'EUR',
        map { $_ => $of->{$_} // '' } qw(id name terms notes address1 zipcode city language_code));
    CT->save(\%config, $form);
    return $form->{id} + 0;
}

sub part {
    my ($of) = @_;
    my $form = form(item => $of->{item} // 'part', partnumber => $of->{number}, partsgroup => $of->{group} ? "x--$of->{group}" : '',
        IC_income => '4020--Sales', IC_expense => '5010--Expense', IC_inventory => $of->{item} eq 'service' ? '' : '1520--Inventory',
        map { $_ => $of->{$_} // '' } qw(id description unit sellprice lastcost onhand));
    IC->save(\%config, $form);
    return $form->{id} + 0;
}

sub order {
    my ($of) = @_;
    my $form = form(type => $of->{type} // 'sales_order', vc => 'customer', customer_id => $of->{customer_id}, currency => 'EUR', transdate => $of->{date}, reqdate => $of->{required},
        department => $of->{department} ? "x--$of->{department}" : '', rowcount => scalar @{$of->{lines}}, map { $_ => $of->{$_} // '' } qw(id ordnumber ponumber notes closed));
    for my $i (1 .. $form->{rowcount}) {
        @$form{"id_$i", "qty_$i", "sellprice_$i", "discount_$i"} = @{$of->{lines}[$i - 1]};
        @$form{"description_$i", "unit_$i"} = ("line $i", 'ea');
    }
    OE->save(\%config, $form);
    return $form->{id} + 0;
}

# group has no module of its own that does not print a page.
sub group { return sql({statement => 'INSERT INTO partsgroup (partsgroup, code) VALUES (?, ?)', values => [@{$_[0]}{qw(name code)}]}) }

sub delete_ {
    my ($of) = @_;
    my $form = form(id => $of->{id}, db => 'customer', vc => 'customer', type => 'sales_order', item => 'part');
    {order => sub { OE->delete(\%config, $form, '.') }, customer => sub { CT->delete(\%config, $form) }, part => sub { IC->delete(\%config, $form) }}->{$of->{of}}();
    return;
}

sub sql {
    my ($of) = @_;
    my $dbh = DBI->connect($config{dbconnect}, $user, '', {RaiseError => 1});
    $dbh->do($of->{statement}, undef, @{$of->{values} // []});
    $dbh->disconnect;
    return;
}

$| = 1;
my $json = JSON::PP->new->utf8->allow_nonref;
while (my $request = <STDIN>) {
    my ($what, $of) = @{$json->decode($request)};
    my $answer = eval { $doing{$what}->($of) };
    print $json->encode($@ ? {error => "$@"} : $answer), "\n";
}
