"""Works in a Tryton as its own users do, by its models and never by SQL.

    office.py CONFIG DATABASE < requests > answers

A request is a line of JSON, [what, {arguments}]; its answer is another: a value, or
{"error": ...} where Tryton refuses. Each is a transaction of its own.
"""
import datetime
import json
import sys
from decimal import Decimal

from trytond.config import config

config.update_etc(sys.argv[1])

from trytond.exceptions import UserError  # noqa: E402
from trytond.pool import Pool  # noqa: E402
from trytond.transaction import Transaction  # noqa: E402

database = sys.argv[2]
Pool.start()
Pool(database).init()


def model(name):
    return Pool().get(name)


def find(name, /, **values):
    return model(name).search([(k, '=', v) for k, v in values.items()])


def make(name, /, **values):
    made, = model(name).create([values])
    return made.id


def within(company):
    return Transaction().set_context(company=company, active_test=False)


# What a new database is filled with: two companies that share their parties and
# products, and sell by themselves. Each thing is made in a transaction of its own.

def fill():
    answer('basics', {})
    for name, login in [('De Wit Metaal', 'wit'), ('Zwart & Zn.', 'Wit')]:
        answer('company', {'name': name, 'login': login})
    parties, products = [], []
    for i in range(24):
        parties.append(answer('party', {
            'name': ["O'Neil", 'anna', 'Anna', 'ANNA', 'x") || ("y', '%', '', None, 'Ünal', '  blank '][i % 10],
            'code': ['p%02d', 'P%02d'][i % 2] % (i // 2),
            'contacts': [('email', "o'neil+%d@example.com" % i), ('phone', '+3133%07d' % i), ('other', 'under the mat')][:i % 4],
            'addresses': i % 3}))
    for i in range(20):
        products.append(answer('product', {
            'company': 1 + i % 2, 'name': ['Bolt', 'bolt', "6\" pipe", "1' rod"][i % 4], 'code': ['a%d' % i, 'A%d' % (i - 1), None, ''][i % 4],
            'price': [None, '12.3456', '0', '99999.99'][i % 4], 'kind': ['goods', 'service', 'assets'][i % 3], 'unit': ['u', 'h', 'kg'][i % 3]}))
    for i in range(60):
        order = answer('sale', {
            'company': 1 + i % 3 % 2, 'party': parties[i % 11], 'reference': [None, 'r', 'R', "it's"][i % 4],
            'date': [None, '2026-03-29', '2026-10-25', '2026-07-01'][i % 4], 'description': ['', None, 'Sold', 'sold'][i % 4],
            'lines': [[products[(i + j) % 20], ['1', '0.1', '-2.5', '3.3333'][j % 4], ['10', '0.0001', '12.3456'][j % 3]] for j in range(i % 4)]})
        if i % 5 == 1:
            answer('state', {'sale': order, 'to': 'cancel'})
        if i % 5 == 2 and i % 4 and i % 11 % 3:
            answer('state', {'sale': order, 'to': 'quote'})
    for n in (3, 7, 8):
        answer('change', {'model': 'party.party', 'id': parties[n], 'values': {'active': False}})
    for n in (2, 5):
        answer('change', {'model': 'product.product', 'id': products[n], 'values': {'active': False}})


def basics():
    make('currency.currency', name='Euro', symbol='€', code='EUR',
        rates=[('create', [{'date': datetime.date(2020, 1, 1), 'rate': Decimal(1)}])])
    for code, name in [('NL', 'Netherlands'), ('BE', 'Belgium'), ('DE', 'Germany')]:
        make('country.country', code=code, name=name)


def company(name, login):
    euro, = find('currency.currency', code='EUR')
    company = make('company.company', party=make('party.party', name=name), currency=euro.id)
    with within(company):
        who = make('company.employee', company=company, party=make('party.party', name='Employee of ' + name))
        make('res.user', name=name + "'s clerk", login=login, password='tafel-Berg-' + login, email=login + '@example.com',
            companies=[('add', [company])], company=company, employees=[('add', [who])], employee=who)


def party(name, code=None, contacts=(), addresses=0):
    values = {'name': name, 'addresses': [('create', [
        {'street': 'Stationsweg %d' % i, 'postal_code': '3811 MH', 'city': ['Amersfoort', "'s-Hertogenbosch"][i % 2],
            'country': find('country.country', code='NL')[0].id} for i in range(addresses)])]}
    if code is not None:
        values['code'] = code
    if contacts:
        values['contact_mechanisms'] = [('create', [{'type': kind, 'value': value} for kind, value in contacts])]
    return make('party.party', **values)


def product(company, name, code=None, price=None, kind='goods', unit='u'):
    unit, = find('product.uom', symbol=unit)
    with within(company):
        template = make('product.template', name=name, type=kind, default_uom=unit.id, salable=True, sale_uom=unit.id,
            list_price=None if price is None else Decimal(price), products=[('create', [{'suffix_code': code}])])
        return model('product.template')(template).products[0].id


def sale(company, party, lines=(), reference=None, date=None, description=None):
    Product = model('product.product')
    with within(company):
        values = {'company': company, 'party': party, 'reference': reference, 'description': description,
            'sale_date': date and datetime.date.fromisoformat(date),
            'lines': [('create', [line(Product(p), quantity, price, n) for n, (p, quantity, price) in enumerate(lines)]
                + [{'type': 'comment', 'description': 'thank you'}])]}
        address = model('party.party')(party).address_get('invoice')
        if address:
            values['invoice_address'] = values['shipment_address'] = address.id
        return make('sale.sale', **values)


def line(product, quantity, price, n):
    return {'product': product.id, 'quantity': round(float(quantity), product.sale_uom.digits), 'unit': product.sale_uom.id, 'unit_price': Decimal(price),
        'description': product.name, 'sequence': n or None}


def state(sale, to):
    Sale = model('sale.sale')
    with within(Sale(sale).company.id):
        getattr(Sale, to)([Sale(sale)])


def change(model, id, values):
    Model = Pool().get(model)
    Model.write([Model(id)], values)


def delete(model, id):
    Model = Pool().get(model)
    Model.delete([Model(id)])


def read(model, fields, domain=()):
    """All records, hidden ones too, as Tryton gives them to its clients."""
    Model = Pool().get(model)
    found = Model.search_read([tuple(d) for d in domain], order=[('id', 'ASC')], fields_names=fields)
    return [[record['id']] + [record[f] for f in fields] for record in found]


def plain(value):
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(type(value))


def answer(what, arguments):
    if what == 'fill':
        return fill()
    try:
        with Transaction().start(database, 1, context={'active_test': False}):
            return globals()[what](**arguments)
    except UserError as refusal:
        return {'error': str(refusal)}


for request in sys.stdin:
    json.dump(answer(*json.loads(request)), sys.stdout, default=plain)
    print(flush=True)
