import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { githubToken } from '../../src/cloud/github-token.ts';
import { putTarget, startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startTokenIssuer } from '../helpers/sign-in/token-issuer.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { configuredCli } from '../helpers/terminal/configured-cli.ts';

const { signal } = new AbortController();

describeWithPostgres('a job of GitHub Actions', () => {
  const postgres = suiteResource(() => startPostgres());

  test('needs no stored secret: its ID token is exchanged, again when the token of the hub has ended', async () => {
    const issuer = await startTokenIssuer();
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const rules = [{ repository: 'acme/app', ref: 'refs/heads/main', targets: ['orders'] }];
    const settings = { publicUrl, listen: { host: '127.0.0.1', port }, github: { issuer: issuer.url, rules } };
    const hub = await startHub({ databaseUrl: postgres.url('postgres'), ...settings }, postgres);
    onTestFinished(() => hub.stop());
    await putTarget(hub, 'orders', { settings: {} });
    await putTarget(hub, 'others', { settings: {} });
    const cli = await configuredCli(`env: development\ndev_api_url: ${hub.url}\nworking_directory: ./work\n`);
    const job = (ref: string) =>
      issuer.jobVariables({ repository: 'acme/app', ref, event_name: 'push', sub: `repo:acme/app:ref:${ref}` });

    const listed = await cli.tool(['target', 'orders', '--json'], { environment: job('refs/heads/main') });
    expect(listed, listed.stderr).toMatchObject({ exit: 0 });
    expect(JSON.parse(listed.stdout)).toMatchObject({ target: 'orders', snapshots: [] });
    expect(issuer.asked[0]?.url).toBe(`/job-token?api-version=2.0&audience=${encodeURIComponent(publicUrl)}`);
    const other = await cli.tool(['target', 'others'], { environment: job('refs/heads/main') });
    expect(other).toMatchObject({ exit: 2, stderr: expect.stringContaining('There is no target "others"') });

    const ended = { ...job('refs/heads/main') };
    const text = `env: development\ndev_api_url: ${hub.url}\nworking_directory: ./work\nauthtoken: toolhub_ended\n`;
    const again = await (await configuredCli(text)).tool(['target', 'orders'], { environment: ended });
    expect(again, again.stderr).toMatchObject({ exit: 0 });

    const branch = await cli.tool(['target', 'orders'], { environment: job('refs/heads/feature') });
    expect(branch.exit).toBe(5);
  });

  test('a job of GitLab signs in with the token in TOOL_ID_TOKEN, which is not shown', async () => {
    const issuer = await startTokenIssuer();
    await postgres.createDatabase('gitlab');
    const publicUrl = 'https://hub.example.com';
    const rules = [{ repository: 'acme/app', ref: 'refs/heads/main', targets: ['orders'] }];
    const settings = { publicUrl, gitlab: { issuer: issuer.url, rules } };
    const hub = await startHub({ databaseUrl: postgres.url('gitlab'), ...settings }, postgres);
    onTestFinished(() => hub.stop());
    await putTarget(hub, 'orders', { settings: {} });
    const cli = await configuredCli(`env: development\ndev_api_url: ${hub.url}\nworking_directory: ./work\n`);
    const claims = { project_path: 'acme/app', ref: 'main', ref_type: 'branch', pipeline_source: 'push' };
    const TOOL_ID_TOKEN = issuer.sign({ aud: publicUrl, ...claims });
    const listed = await cli.tool(['target', 'orders', '--json'], { environment: { TOOL_ID_TOKEN } });
    expect(listed, listed.stderr).toMatchObject({ exit: 0 });
    expect(JSON.parse(listed.stdout)).toMatchObject({ target: 'orders' });
    const again = await cli.tool(['target', 'orders', '--debug'], { environment: { TOOL_ID_TOKEN } });
    expect(again).toMatchObject({ exit: 4, stderr: expect.stringContaining('was exchanged before') });
    expect(again.stdout + again.stderr + listed.stderr).not.toContain(TOOL_ID_TOKEN);
  });
});

test.each([
  { what: 'refuses', status: 403, text: '', reason: 'status 403' },
  { what: 'answers something else', status: 200, text: '{"token": "x"}', reason: 'value' },
  { what: 'answers no JSON', status: 200, text: '<html>', reason: 'JSON' },
])('a service that $what is an error that names the permission', async ({ status, text, reason }) => {
  const issuer = await startTokenIssuer();
  const environment = issuer.jobVariables({});
  issuer.misbehave(status, {}, text);
  const failed = githubToken(environment, { audience: 'https://hub.example.com', signal });
  await expect(failed).rejects.toMatchObject({
    code: 'github_token_missing',
    exit: 4,
    details: [expect.stringContaining(reason)],
    hint: 'The job needs the permission id-token: write.',
  });
});

test('the request token is not sent where a redirection leads', async () => {
  let reached = 0;
  const other = createServer((_request, response) => {
    reached += 1;
    response.end('{"value": "x"}');
  });
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  onTestFinished(() => void other.close());
  const issuer = await startTokenIssuer();
  const environment = issuer.jobVariables({});
  issuer.misbehave(307, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` });
  const failed = githubToken(environment, { audience: 'https://hub.example.com', signal });
  await expect(failed).rejects.toMatchObject({ code: 'github_token_missing' });
  expect(reached).toBe(0);
});
