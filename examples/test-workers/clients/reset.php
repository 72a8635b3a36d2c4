<?php
// In the bootstrap file of PHPUnit, with ParaTest:
// putenv('DATABASE_URL=' . getenv('DATABASE_URL_' . (getenv('TEST_TOKEN') ?: '1')));
// For setUp() of a TestCase, after `tool branch serve shop test --yes --json > .reset.json &`.
function reset_branch(string $worker, string $file = '.reset.json'): array
{
    $socket = json_decode(strtok(file_get_contents($file), "\n"), true)['socket'];
    $request = curl_init("http://localhost/reset/$worker");
    curl_setopt_array($request, [
        CURLOPT_UNIX_SOCKET_PATH => $socket, CURLOPT_POST => true, CURLOPT_POSTFIELDS => '', CURLOPT_RETURNTRANSFER => true,
    ]);
    $body = curl_exec($request);
    if (curl_getinfo($request, CURLINFO_HTTP_CODE) !== 200) throw new RuntimeException("not reset: $body");
    return json_decode($body, true);
}
