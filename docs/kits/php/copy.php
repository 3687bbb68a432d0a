<?php
// Keeps a copy of some records in a database, with what PHP has of its own (PDO, here with SQLite).
//
//     php copy.php copy.db                  brings the copy up to date, as from cron
//     php copy.php copy.db --follow 5       goes on, and asks every 5 seconds
//
// The recipe, and what else there is to know, is the chapter "Keep a copy" of the guide.
declare(strict_types=1);

const TRIES = 10;
$base = getenv('BASE') ?: 'http://127.0.0.1:8080/webservice_v2';
$login = [
    'api_key' => getenv('API_KEY') ?: '11111111-1111-4111-8111-111111111111',
    'username' => getenv('FRONTDESK_USER') ?: 'demo',
    'password' => getenv('FRONTDESK_PASSWORD') ?: 'demo',
];
$resources = explode(',', getenv('RESOURCES') ?: 'contact,order');
$token = '';

/** The copy has to begin again. */
class CursorGone extends Exception {}

/** Asks until there is an answer: logs in, waits where it is told to, and tries again. */
function get(string $path, array $query): array
{
    global $base, $login, $token;
    for ($try = 0; $try < TRIES; $try++) {
        if ($token === '' && $path !== '/authenticate') {
            $token = get('/authenticate', $login)['token'];
        }
        $used = $token;
        $options = ['http' => ['header' => "token: $used", 'ignore_errors' => true, 'timeout' => 60, 'follow_location' => 0]];
        $body = @file_get_contents("$base$path?" . http_build_query($query), false, stream_context_create($options));
        $headers = $body === false ? [] : $http_response_header;
        $status = (int) (explode(' ', $headers[0] ?? '')[1] ?? 0); // 0: nobody answers, or not in time
        if ($status === 200) {
            return json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        }
        if ($status === 401 && $used !== '') { // a session lasts half an hour
            $token = '';
            continue;
        }
        if ($status === 410) {
            throw new CursorGone();
        }
        if ($status !== 0 && $status !== 429 && $status < 500) {
            break;
        }
        $told = preg_grep('/^Retry-After: *\d+$/i', $headers);
        $wait = $told ? (int) explode(':', end($told))[1] : min(2 ** $try, 30);
        fwrite(STDERR, "$path: " . ($body ?: 'nobody answers') . "; asking again in $wait s\n");
        sleep($wait);
    }
    fwrite(STDERR, "$path: " . ($body ?: 'nobody answers') . "\n");
    exit(1);
}

function put(PDO $copy, string $resource, array $record): void
{
    $data = json_encode($record, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_UNICODE);
    $copy->prepare('REPLACE INTO record VALUES (?, ?, ?)')->execute([$resource, $record['id'], $data]);
}

/** The cursor first, then all records: what changes meanwhile comes after the cursor. */
function readEverything(PDO $copy, array $resources): string
{
    $cursor = get('/changes', ['resource' => implode(',', $resources)])['cursor'];
    $copy->beginTransaction(); // the copy is the former one until this one is whole
    $copy->exec('DELETE FROM record');
    foreach ($resources as $resource) {
        $after = 0;
        do {
            $page = get("/$resource", ['after' => $after, 'page_size' => 1000]);
            foreach ($page['data'] as $record) {
                put($copy, $resource, $record);
                $after = $record['id'];
            }
        } while ($page['next'] !== null);
    }
    $copy->prepare('REPLACE INTO state VALUES (1, ?)')->execute([$cursor]);
    $copy->commit();
    return $cursor;
}

function catchUp(PDO $copy, array $resources): void
{
    $cursor = $copy->query('SELECT position FROM state')->fetchColumn() ?: null;
    do {
        try {
            $cursor ??= readEverything($copy, $resources);
            $page = get('/changes', ['after' => $cursor, 'resource' => implode(',', $resources), 'records' => 1, 'page_size' => 1000]);
        } catch (CursorGone) {
            $cursor = null;
            continue;
        }
        $copy->beginTransaction(); // the records and the cursor together, or neither
        foreach ($page['data'] as $change) {
            if ($change['record'] === null) {
                $copy->prepare('DELETE FROM record WHERE resource = ? AND id = ?')->execute([$change['resource'], $change['id']]);
            } else {
                put($copy, $change['resource'], $change['record']);
            }
        }
        $cursor = $page['cursor'];
        $copy->prepare('UPDATE state SET position = ?')->execute([$cursor]);
        $copy->commit();
    } while ($cursor === null || $page['more']);
}

$copy = new PDO('sqlite:' . ($argv[1] ?? 'copy.db'));
$copy->exec('CREATE TABLE IF NOT EXISTS record (resource VARCHAR(64), id INTEGER, data TEXT, PRIMARY KEY (resource, id))');
$copy->exec('CREATE TABLE IF NOT EXISTS state (one INTEGER PRIMARY KEY, position TEXT)');
catchUp($copy, $resources);
while (($argv[2] ?? '') === '--follow') {
    usleep((int) (1e6 * ($argv[3] ?? 5)));
    catchUp($copy, $resources);
}
$count = $copy->prepare('SELECT count(*) FROM record WHERE resource = ?');
foreach ($resources as $resource) {
    $count->execute([$resource]);
    echo $resource, ' ', $count->fetchColumn(), "\n";
}
