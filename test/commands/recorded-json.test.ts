import { beforeAll, expect, it, vi } from 'vitest';
import { describeWithPostgres, startPostgres } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const FILL = `
  CREATE TABLE customer (id integer PRIMARY KEY, email text NOT NULL);
  INSERT INTO customer SELECT i, 'someone' || i || '@real.example' FROM generate_series(1, 20) i;
  CREATE TABLE "order" (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customer, total numeric(9,2));
  INSERT INTO "order" SELECT i, 1 + i % 20, i FROM generate_series(1, 60) i`;

const COMMANDS = [
  'config show',
  'targets',
  'targets --info --no-check',
  'target app',
  'build app --no-sanitize --note first',
  'target app --info',
  'load app --dry-run',
  'load app --yes',
  'load app --tables customer --yes',
  'undo app --yes',
  'sanitize app --suggest',
  'sanitize app --yes',
  'load app latest --original --yes',
  'subset app --dry-run',
  'subset app --yes',
  'build app --no-sanitize',
  'diff app 1 0',
  'verify app',
  'export app -o app.zip',
  'import app.zip --target other',
  'prune --keep-last 1 --dry-run',
  'rm app 1 --yes',
  'prune --keep-last 1',
  'push app',
  'build nowhere',
  'load app 99 --yes',
  'load app --destdb SOURCE --yes',
  'nonsense',
];

describeWithPostgres('the JSON of every command', () => {
  const server = suiteResource(() => startPostgres());
  let cli: ConfiguredCli;

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', { sql: FILL });
  }, 60_000);

  it('equals the recorded output byte for byte', async () => {
    cli = await configuredCli(`working_directory: work
defaults: {cpus: 1}
targets:
  app:
    name: The shop
    snapshot: {src_url: "${server.url('shop')}", dst_url: "${server.url('shop_dev')}"}
    sanitize: {dst_url: "${server.url('shop_clean')}", override_query: "UPDATE customer SET email = 'user-' || id || '@example.com'"}
    subset:
      src_url: "${server.url('shop')}"
      dst_url: "${server.url('shop_small')}"
      subset_tables: [{table: public.order, where: id <= 5}]
  other:
    snapshot: {src_url: "${server.url('shop')}"}
`);
    const told: string[] = [];
    for (const command of COMMANDS) {
      await vi.waitFor(async () => expect(await openSessions()).toBe('0\n'), { timeout: 10_000 });
      const { exit, stdout } = await cli.tool([...command.replace('SOURCE', server.url('shop')).split(' '), '--json']);
      const lines = stdout.trimEnd().split('\n').map(steady);
      const once = lines.filter((line, at) => !(line.startsWith('{"event":"progress"') && line === lines[at - 1]));
      told.push(`$ tool ${command} --json`, ...inTurn(once), `exit ${exit}`, '');
    }
    await expect(told.join('\n')).toMatchFileSnapshot('recorded.json.txt');
  }, 120_000);

  /** A busy server lists those of the command before for a moment, and a plan would name them. */
  function openSessions(): Promise<string> {
    return server.psql('postgres', { sql: `SELECT count(*) FROM pg_stat_activity WHERE datname LIKE 'shop%'` });
  }

  /** Moves the end of a step behind its beginning where two steps run at the same time. */
  function inTurn(lines: string[]): string[] {
    const end = lines.find((line) => line.startsWith('{"event":"step","step":"leaks","state":"done"'));
    if (end === undefined) return lines;
    const others = lines.filter((line) => line !== end);
    const begun = others.findIndex((line) => line.startsWith('{"event":"step","step":"leaks","state":"started"'));
    return others.toSpliced(begun + 1, 0, end);
  }

  const ids = new Map<string, string>();

  /** Without what differs from run to run: ports, paths, ids, keys, times, versions, and numbers of bytes. */
  function steady(line: string): string {
    return line
      .replaceAll(cli.folder.path, 'FOLDER')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
      .replaceAll(/ed25519-[^"]+/g, 'KEY')
      .replaceAll(/\b[0-9a-f]{16,}\b/g, 'HEX')
      .replaceAll(/\b(?=\d*[a-f])[0-9a-f]{8}\b|\b\d{8}\b/g, idOf)
      .replaceAll(/\b\d+\.\d+(\.\d+)?(?= ?[")(])/g, 'VERSION')
      .replaceAll(/("(?:\w*_ms|\w*bytes|done|total)":)\d+/g, '$10')
      .replace(/("event":"progress".*"current":)"(public\.|toc)[^"]*"/, '$1"FILE"');
  }

  function idOf(id: string): string {
    if (!ids.has(id)) ids.set(id, `ID${ids.size + 1}`);
    return ids.get(id) as string;
  }
});
