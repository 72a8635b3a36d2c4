import { readdirSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { build } from '../../.ci/build.mjs';
import {
  type Block,
  blocksOf,
  type DocumentedSession,
  isShell,
  openDocumentedSession,
} from '../helpers/documents/documented-commands.ts';
import { startHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { startStandby } from '../helpers/postgres/postgres-standby.ts';
import { startIdentityProvider } from '../helpers/sign-in/identity-provider.ts';
import { noteTakingBrowser } from '../helpers/sign-in/note-taking-browser.ts';
import { describeWithSsh, startBastion } from '../helpers/ssh/ssh-server.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const TASKS = fileURLToPath(new URL('../../docs/tasks', import.meta.url));

interface PageTarget {
  snapshot: Record<string, string>;
  sanitize?: Record<string, string>;
}

const ORDERS = `
  CREATE TABLE customer (id integer PRIMARY KEY, name text);
  CREATE TABLE orders (id integer PRIMARY KEY, customer integer REFERENCES customer);
  CREATE TABLE invoice_2025 (id integer PRIMARY KEY);
  INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO orders VALUES (1, 1); INSERT INTO invoice_2025 VALUES (7);
  CREATE TABLE audit AS SELECT 1 AS id`;

describeWithPostgres('the pages of tasks', () => {
  let postgres: TestPostgres;

  beforeAll(async () => {
    await build();
    postgres = await startPostgres();
    await postgres.createDatabase('shop');
    await postgres.psql('shop', { sql: ORDERS });
  });

  afterAll(() => postgres.stop());

  /** A page's configuration and commands, on the server of the test. */
  async function openPage(name: string, source = postgres.url('shop')) {
    const file = name.endsWith('.md') ? name : `docs/tasks/${name}.md`;
    const blocks = await blocksOf(file);
    const local = postgres.url('postgres').replace(/\/postgres$/, '');
    const session = await openDocumentedSession({
      substitutes: [
        ['postgres://app@db.example.com:5432/shop', source],
        ['postgres://postgres@localhost:5432', local],
      ],
    });
    const written = blocks.find(({ language }) => language === 'yaml');
    if (written) {
      const tree = parse(written.text);
      const here = (url = ''): string => url.replace(/postgres:\/\/postgres@localhost(?::5432)?/, local);
      for (const { snapshot, sanitize } of Object.values<PageTarget>(tree.targets ?? {})) {
        snapshot.src_url = source;
        snapshot.dst_url = here(snapshot.dst_url);
        if (sanitize?.dst_url) sanitize.dst_url = here(sanitize.dst_url);
      }
      const own = { secret_key: SECRET_KEY, working_directory: './snapshots' };
      await writeFile(join(session.folder, 'tool.yml'), stringify({ ...own, ...tree }), { mode: 0o600 });
    }
    return { session, blocks };
  }

  const runAll = async (session: DocumentedSession, blocks: Block[], environment: NodeJS.ProcessEnv = {}) => {
    const outputs: string[] = [];
    for (const block of blocks.filter(isShell)) outputs.push(await session.shell(block, environment));
    return outputs.join('');
  };

  test('restore-a-snapshot: every command runs', async () => {
    const { session, blocks } = await openPage('restore-a-snapshot');
    const prepare = {
      title: 'two snapshots',
      language: 'sh',
      text: 'tool build shop; tool build shop; tool load shop',
    };
    await session.shell(prepare);
    const isNightly = ({ title }: Block) => title.endsWith('A snapshot every night');
    const output = await runAll(
      session,
      blocks.filter((block) => !isNightly(block)),
    );
    // Nobody answers questions at night.
    await runAll(session, blocks.filter(isNightly), { TOOL_NO_CONFIRM: '' });
    expect(output).toContain('Restored the previous');
    expect(await postgres.databases()).toContain('shop_yesterday');
    expect(
      (
        await postgres.psql('shop_dev', { sql: 'SELECT (SELECT count(*) FROM customer), (SELECT count(*) FROM audit)' })
      ).trim(),
    ).toBe('2|0');
  });

  test('README: every command runs after the file is written', async () => {
    const { session, blocks } = await openPage('README.md');
    const [first] = blocks.filter(isShell);
    if (!first) throw new Error('the page has other blocks');
    // `tool` alone opens the screens: test/e2e/set-up.test.ts.
    const text = first.text.replace(/^tool +#.*$/m, '');
    expect(text).not.toBe(first.text);
    expect(await session.shell({ ...first, text })).toContain('Loaded snapshot 0 of shop');
  });

  test('sanitize: every command runs', async () => {
    const { session, blocks } = await openPage('docs/sanitize.md');
    await session.shell({ title: 'a snapshot', language: 'sh', text: 'tool build shop --no-sanitize' });
    await runAll(session, blocks);
    const names = 'SELECT count(*) FROM customer WHERE name IN ($$Ann$$, $$Bob$$)';
    expect((await postgres.psql('shop_sanitized', { sql: names })).trim()).toBe('0');
  });

  test('classify-every-column: every command runs', async () => {
    const { session } = await openPage('docs/sanitize.md');
    const [block] = (await blocksOf('docs/tasks/classify-every-column.md')).filter(isShell);
    if (!block) throw new Error('the page has no commands');
    const prepare = 'tool build shop --no-sanitize && tool sanitize shop --suggest > sanitize.sql';
    await session.shell({ title: 'a snapshot', language: 'sh', text: prepare });
    const [classify = '', ...later] = block.text.split('\n');
    await session.shell({ ...block, text: classify });
    // The team decides on the columns between the two.
    const ledger = join(session.folder, 'sanitize.lock.yml');
    await writeFile(ledger, (await readFile(ledger, 'utf8')).replaceAll(': open', ': { kept: no person }'));
    await writeFile(join(session.folder, 'new.sql'), 'CREATE INDEX ON customer (name);');
    const output = await session.shell({ ...block, text: later.join('\n') });
    expect(output).toContain('are classified in');
  });

  test('prove-a-snapshot: every command runs', async () => {
    const { session, blocks } = await openPage('restore-a-snapshot');
    const page = await blocksOf('docs/tasks/prove-a-snapshot.md');
    expect(blocks.length).toBeGreaterThan(0);
    expect(await runAll(session, page)).toMatch(/can be restored: .* which is removed/);
    const proof = await readFile(join(session.folder, 'proof.md'), 'utf8');
    expect(proof).toMatch(/^\| Restore \| can be restored: .*\n\| Value of the query \| 1 \|$/m);
  });

  test('rehearse-a-migration: every command runs', async () => {
    const { session } = await openPage('restore-single-tables');
    const blocks = await blocksOf('docs/tasks/rehearse-a-migration.md');
    await writeFile(join(session.folder, 'add-note.sql'), 'ALTER TABLE orders ADD COLUMN note text;\n');
    await session.shell({
      title: 'a load',
      language: 'sh',
      text: 'tool build shop && tool load shop --keep-base --yes',
    });
    expect(await runAll(session, blocks)).toContain('Passed: migration of shop');
    expect(await readFile(join(session.folder, 'rehearsal.md'), 'utf8')).toContain('public.orders (table): changed');
    expect((await postgres.databases()).filter((name) => name.includes('rehearsal'))).toEqual([]);
  });

  test('leave-out-large-tables: every command runs', async () => {
    const { session, blocks } = await openPage('leave-out-large-tables');
    expect(await runAll(session, blocks)).toContain('public.orders (customer), 1 row');
    const counts =
      'SELECT (SELECT count(*) FROM audit), (SELECT count(*) FROM invoice_2025), (SELECT count(*) FROM orders)';
    expect((await postgres.psql('shop_dev', { sql: counts })).trim()).toBe('0|0|1');
  });

  test('restore-single-tables: every command runs', async () => {
    const { session, blocks } = await openPage('restore-single-tables');
    await session.shell({ title: 'a load', language: 'sh', text: 'tool build shop && tool load shop --yes' });
    await postgres.psql('shop_dev', { sql: `DELETE FROM orders; UPDATE customer SET name = 'lost'` });
    const output = await runAll(session, blocks);
    expect(output).toContain('public.orders: 0 rows → 1');
    expect(output).toContain('Restored the previous rows of 1 table');
    const counts = 'SELECT (SELECT count(*) FROM orders), (SELECT min(name) FROM customer)';
    expect((await postgres.psql('shop_dev', { sql: counts })).trim()).toBe('0|lost');
  });

  test('save-and-return: every command runs', async () => {
    const { session, blocks } = await openPage('save-and-return');
    const prepare = 'tool build shop && tool load shop --keep-base --yes';
    await session.shell({ title: 'a load', language: 'sh', text: prepare });
    const output = await runAll(session, blocks);
    expect(output).toMatch(/^before-migration +0 /m);
    expect(output).toContain('Returned to save before-migration of shop');
    expect(output).toContain('Return rows of 1 table of shop to the last load');
    expect(output).toMatch(/Reset .*shop_dev to its state after the last load/);
    expect(output).toContain('Removed save before-migration of shop');
  });

  test('review-changes: every command runs', async () => {
    const { session, blocks } = await openPage('review-changes');
    await session.shell({ title: 'a load', language: 'sh', text: 'tool build shop && tool load shop --yes' });
    await postgres.psql('shop_dev', { sql: "UPDATE customer SET name = 'Eve' WHERE id = 2; DELETE FROM orders" });
    const output = await runAll(session, blocks);
    expect(output).toMatch(/^public\.customer +0 +1 +0$/m);
    expect(output).toMatch(/^~ id 2: name: Bob → Eve$/m);
    expect(output).toMatch(/^Wrote \d+ statements to .*changes\.sql$/m);
  });

  test('begin-with-a-backup: every command runs', async () => {
    const { session, blocks } = await openPage('begin-with-a-backup');
    expect(await runAll(session, blocks)).toMatch(/Imported snapshot \w+ of shop from shop\.dump: 4 tables/);
    const count = 'SELECT count(*) FROM customer';
    expect((await postgres.psql('shop_dev', { sql: count })).trim()).toBe('2');
  });

  test('build-from-a-replica: every command runs, on a standby', async () => {
    const standby = await startStandby(postgres);
    onTestFinished(() => standby.stop());
    const { session, blocks } = await openPage('build-from-a-replica', standby.url('shop'));
    expect(await runAll(session, blocks)).toContain('Loaded snapshot 0 of shop');
  });

  test('use-in-ci: every command runs', async () => {
    const { session, blocks } = await openPage('use-in-ci');
    const [first, second, third, fourth] = blocks.filter(isShell);
    if (!first || !second || !third || !fourth) throw new Error('the page has other blocks');
    const environment = { TOOL_SECRET_KEY: SECRET_KEY, TOOL_WORKING_DIRECTORY: join(session.folder, 'snapshots') };
    await session.shell(second, environment);
    const urls = second.text
      .split('\n')
      .filter((line) => line.startsWith('export'))
      .join('\n');
    await session.shell({ ...first, text: `${urls}\n${first.text}` }, environment);
    const events = (await readFile(join(session.folder, 'load.jsonl'), 'utf8')).trim().split('\n');
    expect(events.map((line) => JSON.parse(line).event).at(-1)).toBe('done');
    expect(await session.shell({ ...third, text: `${urls}\n${third.text}` }, environment)).toContain('Reset postgres');
    const variables = join(session.folder, 'variables');
    await session.shell({ ...fourth, text: `${urls}\n${fourth.text}` }, { ...environment, GITHUB_ENV: variables });
    expect(await readFile(variables, 'utf8')).toMatch(
      /^DATABASE_URL=postgres:\/\/\S+:[0-9a-f]{32}@127\.0\.0\.1:\d+\/shop\n$/,
    );
  });

  test('use-with-agents: the configuration of a client starts the server, which offers the tools of the page', async () => {
    const { session, blocks } = await openPage('use-with-agents');
    const written = blocks.find(({ language }) => language === 'json')?.text ?? '';
    const { command, args } = JSON.parse(written).mcpServers.databases;
    expect(blocks.find(({ language }) => language === 'toml')?.text).toContain(`args = ${JSON.stringify(args)}`);
    expect(command).toBe('tool');
    const client = new Client({ name: 'documented', version: '1.0.0' });
    const env = { PATH: process.env.PATH ?? '', HOME: session.home, TOOL_TRUST: 'true' };
    const program = { command: join(session.home, 'bin/tool'), args, cwd: session.folder, env };
    await client.connect(new StdioClientTransport(program));
    onTestFinished(() => client.close());
    const { structuredContent } = await client.callTool({ name: 'list_targets' });
    expect(structuredContent).toMatchObject({ targets: [{ name: 'shop' }] });
    const page = await readFile(join(TASKS, 'use-with-agents.md'), 'utf8');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('run-migrations-on-each-load: every command runs', async () => {
    const { session, blocks } = await openPage('run-migrations-on-each-load');
    const manifest = { scripts: { migrate: 'psql "$DATABASE_URL" --command "CREATE TABLE migrated (id integer)"' } };
    await writeFile(join(session.folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(session.folder, 'after-load.sql'), 'INSERT INTO migrated VALUES (1);\n');
    const [first, ...rest] = blocks.filter(isShell);
    if (!first || rest.length > 0) throw new Error('the page has other blocks');
    const [last = '', ...others] = first.text.trim().split('\n').reverse();
    const output = await session.shell({ ...first, text: others.reverse().join('\n') });
    expect(output).toContain('Run step 1 of 3 of after_load: npm run migrate');
    expect(output).toContain('Ran 3 steps of after_load');
    const rows = await postgres.psql('shop_dev', { sql: 'SELECT count(*) FROM migrated' });
    expect(rows.trim()).toBe('1');
    expect(last).toContain('--no-after-load');
    await session.shell({ ...first, text: last });
    const there = await postgres.psql('shop_dev', { sql: "SELECT to_regclass('migrated') IS NULL" });
    expect(there.trim()).toBe('t');
  });

  describeWithSsh('and of a bastion', () => {
    test('reach-a-source-behind-a-bastion: every command runs', async () => {
      const bastion = await startBastion();
      onTestFinished(() => bastion.stop());
      const { session, blocks } = await openPage('reach-a-source-behind-a-bastion');
      await writeFile(
        join(session.folder, 'tool.yml'),
        (await readFile(join(session.folder, 'tool.yml'), 'utf8')).replace(/ssh:.*/, bastion.url),
        { mode: 0o600 },
      );
      await copyFile(join(bastion.folder, 'bin/ssh'), join(session.home, 'bin/ssh'));
      expect(await runAll(session, blocks)).toContain('Verified');
      const rows = await postgres.psql('shop_dev', { sql: 'SELECT count(*) FROM customer' });
      expect(rows.trim()).toBe('2');
      expect((await bastion.log()).match(/Accepted publickey/g)?.length).toBeGreaterThanOrEqual(2);
    });
  });

  test('use-branches: every command runs, and so does the example', async () => {
    await postgres.psql('shop', { sql: "ALTER TABLE orders ADD state text NOT NULL DEFAULT 'open'" });
    const { session, blocks } = await openPage('use-branches');
    const output = await runAll(session, blocks);
    expect(output).toContain('shop_dev_login_form');
    const example = fileURLToPath(new URL('../../examples/test-workers', import.meta.url));
    const text = `cp -R ${example} example; ln -s ${ROOT}/node_modules example/; cd example; cp ../tool.yml .; ln -s ../snapshots .
      sh -c "$(node -p 'require("./package.json").scripts.pretest')" && NO_COLOR=1 node_modules/.bin/vitest run && test -s .env.test`;
    expect(await session.shell({ title: 'the example', language: 'sh', text })).toMatch(/Tests +2 passed/);
    const states = async (database: string) =>
      (await postgres.psql(database, { sql: 'SELECT string_agg(DISTINCT state, $$ $$) FROM orders' })).trim();
    const found = [await states('shop_dev_test_1'), await states('shop_dev_test_2')];
    expect(found.sort()).toEqual(['cancelled', 'shipped']);
  });

  test('follow-git-branches: every command runs in a repository', async () => {
    const { session, blocks } = await openPage('follow-git-branches');
    const url = (database: string) => postgres.url(database);
    await postgres.psql('shop', {
      sql: "CREATE TABLE schema_migrations (version varchar PRIMARY KEY); INSERT INTO schema_migrations VALUES ('20260102093000')",
    });
    const snapshot = { src_url: url('shop'), dst_url: url('shop_followed') };
    const own = { secret_key: SECRET_KEY, working_directory: './snapshots' };
    await writeFile(join(session.folder, 'tool.yml'), stringify({ ...own, targets: { shop: { snapshot } } }), {
      mode: 0o600,
    });
    const text = `git init --quiet --initial-branch=main; git -c user.name=t -c user.email=t@example.com commit --quiet --allow-empty -m one
      tool build shop; tool build shop`;
    await session.shell({ title: 'two snapshots in a repository', language: 'sh', text });
    await writeFile(join(session.folder, '.env.local'), `DATABASE_URL=${url('shop_followed')}\n`);
    const output = await runAll(session, blocks);
    expect(output).toMatch(/Linked to shop[\s\S]*shop_followed_fix[\s\S]*Dropped fix[\s\S]*Removed the link to shop/);
    expect(await readFile(join(session.folder, '.git/hooks/post-checkout'), 'utf8')).toContain(
      'tool branch checkout shop',
    );
    await postgres.psql('shop', { sql: 'DROP TABLE schema_migrations' });
  });

  test('move-from-dbsnapper: every command runs', async () => {
    const { session, blocks } = await openPage('move-from-dbsnapper');
    const former = join(session.home, '.config/dbsnapper');
    await mkdir(former, { recursive: true });
    const snapshot = { src_url: postgres.url('shop'), dst_url: postgres.url('shop_moved') };
    await writeFile(
      join(former, 'dbsnapper.yml'),
      stringify({ secret_key: SECRET_KEY, authtoken: 't', targets: { shop: { snapshot } } }),
    );
    expect(await runAll(session, blocks)).toMatch(/authtoken: left out[\s\S]*No problems[\s\S]*shop/);
  });

  describeWithS3('and of a hub', () => {
    const s3 = suiteResource(() => startS3());

    test('storage: every command runs, with a bucket', async () => {
      const { session, blocks } = await openPage('docs/storage.md');
      const written = parse(await readFile(join(session.folder, 'tool.yml'), 'utf8'));
      written.storage_profiles = { team: await s3.bucket() };
      await writeFile(join(session.folder, 'tool.yml'), stringify(written), { mode: 0o600 });
      await session.shell({ title: 'a pushed snapshot', language: 'sh', text: 'tool build app' });
      expect(await runAll(session, blocks)).toContain('Every snapshot is kept');
    });

    test('share-with-a-team: every command runs, as the owner and as a member', async () => {
      const provider = await startIdentityProvider({ groups: { ann: ['platform'], ben: ['developers'] } });
      const { provider_url, client_id } = provider.settings;
      await postgres.createDatabase('hub');
      const signIn = { provider_url, client_id, redirect_url: null, groups_claim: 'groups' };
      const hub = await startHub({ databaseUrl: postgres.url('hub'), signIn, ownerGroups: ['platform'] }, postgres);
      onTestFinished(() => hub.stop());
      const blocks = await blocksOf('docs/tasks/share-with-a-team.md');
      const [cloudFile, memberFile] = blocks.filter(({ language }) => language === 'yaml');
      const [owner, member] = blocks.filter(isShell);
      if (!cloudFile || !memberFile || !owner || !member) throw new Error('the page has other blocks');
      const shared = parse(cloudFile.text);
      shared.storage_profiles.team = await s3.bucket();
      shared.targets.orders.snapshot.src_url = postgres.url('shop');
      const local = postgres.url('postgres').replace(/\/postgres$/, '');
      const own = { ...parse(memberFile.text), env: 'development', base_url: undefined, dev_api_url: hub.url };
      own.defaults.shared_target_dst_db_url = own.defaults.shared_target_dst_db_url.replace(
        'postgres://postgres@localhost:5432',
        local,
      );
      const settings = { secret_key: SECRET_KEY, working_directory: './snapshots', ...own };
      for (const [person, block] of [['ann', owner] as const, ['ben', member] as const]) {
        const session = await openDocumentedSession({});
        const files: Record<string, string> = {
          'tool.yml': stringify(settings),
          ...(person === 'ann' && {
            'hub.yml': stringify(shared),
            'sanitize.sql': "UPDATE customer SET name = 'nobody'",
          }),
        };
        for (const [name, text] of Object.entries(files)) {
          await writeFile(join(session.folder, name), text, { mode: 0o600 });
        }
        const browser = await noteTakingBrowser({ folder: session.folder });
        const signsIn = browser.url().then(async () => provider.signIn(await browser.visited(), person));
        await session.shell(block, { BROWSER: browser.environment.BROWSER });
        await signsIn;
      }
      const names = await postgres.psql('orders_dev', { sql: 'SELECT DISTINCT name FROM customer' });
      expect(names.trim()).toBe('nobody');
    });
  });

  test('every page has such a test', async () => {
    const own = await readFile(fileURLToPath(import.meta.url), 'utf8');
    const pages = readdirSync(TASKS).map((file) => file.replace(/\.md$/, ''));
    expect(pages.filter((page) => !own.includes(`test('${page}:`))).toEqual([]);
  });
});
