import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../../src/config/schema/settings.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { build } from '../../../../src/operations/build/build.ts';
import { forgetSource } from '../../../../src/operations/identities.ts';
import { declareSources } from '../../../../src/operations/load/guard/declared-sources.ts';
import { assertNotASource } from '../../../../src/operations/load/guard/guard.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { planSanitize } from '../../../../src/operations/sanitize/sanitize.ts';
import { planSubset } from '../../../../src/operations/subset/subset.ts';
import { checkTarget } from '../../../../src/operations/targets/targets.ts';
import { planUndo } from '../../../../src/operations/undo/undo.ts';
import { localRunner } from '../../../../src/process/local.ts';
import type { RunEvent } from '../../../../src/results/events.ts';
import type { Context } from '../../../../src/runtime/context.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../../helpers/postgres/postgres-server.ts';
import { type Standby, startStandby } from '../../../helpers/postgres/postgres-standby.ts';
import { startTcpProxy } from '../../../helpers/proxies/tcp-proxy.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const IS_SOURCE = { code: 'destination_is_source', exit: 5 };
const UNVERIFIED = { code: 'sources_unverified', exit: 5 };
/** A name that resolves nowhere, as that of a VPN that is off. */
const AWAY = 'postgres://reader:secret@db.internal.invalid:5432/prod';

describeWithPostgres('the guard of sources', () => {
  const primary = suiteResource(() => startPostgres());
  const tunnel = suiteResource(() => startTcpProxy(primary.port));
  let standby: Standby;

  beforeAll(async () => {
    await primary.createDatabase('prod');
    await primary.createDatabase('dev');
    await primary.psql('prod', { sql: 'CREATE TABLE customer (id integer PRIMARY KEY)' });
    standby = await startStandby(primary);
  }, 120_000);

  afterAll(async () => {
    await standby?.stop();
  });

  interface World {
    targets: Settings['targets'];
    blanks?: Record<string, string>;
    misnamed?: Settings['targets'];
    environment?: NodeJS.ProcessEnv;
    directory: string;
    events?: RunEvent[];
  }

  function contextOf({
    targets,
    blanks = {},
    misnamed = {},
    environment = process.env,
    directory,
    events = [],
  }: World): Context {
    const context = testContext({ settings: { targets, working_directory: directory }, events });
    const { configuration } = context;
    const deferred = Object.keys(blanks).map((key) => ({
      ...{ severity: 'error' as const, code: 'template_failed', key, message: 'the variable is not set' },
      ...{ hint: null, file: null, line: null, column: null },
    }));
    return {
      ...context,
      environment,
      runner: localRunner({ environment, report: () => {} }),
      configuration: { ...configuration, deferred, blanks: new Map(Object.entries(blanks)), misnamed },
    };
  }

  const throughTunnel = (database: string): string =>
    primary.url(database).replace(`:${primary.port}/`, `:${tunnel.port}/`);

  it('refuses the source of a target whose name is invalid, by its address and by its identity', async () => {
    await using folder = await temporaryFolder();
    const directory = join(folder.path, 'work');
    for (const src_url of [primary.url('prod'), standby.url('prod')]) {
      const misnamed = { '../up': { snapshot: { src_url } } } as Settings['targets'];
      const context = contextOf({ targets: {}, misnamed, directory });
      await expect(assertNotASource(context, parsePostgresUrl(primary.url('prod')))).rejects.toMatchObject(IS_SOURCE);
      await assertNotASource(context, parsePostgresUrl(primary.url('dev')));
    }
  });

  it('refuses a primary as destination of its standby, in every operation that replaces a database', async () => {
    await using folder = await temporaryFolder();
    const dst_url = primary.url('prod');
    const snapshot = { src_url: standby.url('prod'), dst_url };
    const query = join(folder.path, 'query.sql');
    await writeFile(query, 'UPDATE customer SET id = id;\n');
    const sanitize = { query_file: query, dst_url };
    const subset = {
      src_url: standby.url('prod'),
      dst_url,
      subset_tables: [{ table: 'public.customer', percent: 10 }],
    };
    const targets = { app: { snapshot, sanitize, subset } } as unknown as Settings['targets'];
    const context = contextOf({ targets, directory: join(folder.path, 'work') });
    await build(context, { target: 'app', cpus: 1 });
    const file = join(folder.path, 'script.sql');
    await writeFile(file, 'SELECT 1;\n');
    const entries: Record<string, () => Promise<unknown>> = {
      load: () => planLoad(context, { target: 'app' }),
      'load of some tables': () => planLoad(context, { target: 'app', tables: ['public.customer'] }),
      'load in place': () => planLoad(context, { target: 'app', inPlace: true }),
      '--destdb': () => planLoad(context, { target: 'app', destdb: throughTunnel('prod') }),
      'SQL file': () => planLoad(context, { target: 'app', file }),
      'SQL file, --no-drop': () => planLoad(context, { target: 'app', file, noDrop: true }),
      undo: () => planUndo(context, { target: 'app' }),
      sanitize: () => planSanitize(context, { target: 'app' }),
      subset: () => planSubset(context, { target: 'app' }),
    };
    for (const [name, plan] of Object.entries(entries)) await expect(plan(), name).rejects.toMatchObject(IS_SOURCE);
  }, 120_000);

  it('compares with what a source said when it was last reached, whoever reaches it now', async () => {
    await using folder = await temporaryFolder();
    const directory = folder.path;
    const targets = { app: { snapshot: { src_url: throughTunnel('prod') } } };
    await checkTarget(contextOf({ targets, directory }), 'app');
    expect((await stat(join(directory, 'identities.json'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, 'identities.json'), 'utf8')).not.toContain('secret');
    const { host, port } = new URL(throughTunnel('prod'));
    const key = 'targets.app.snapshot.src_url';
    // The variable with the password is not set this time.
    const blanks = { [key]: `postgres://postgres:@${host}/prod` };
    expect(host).toContain(port);
    const blank = contextOf({ targets: { app: { snapshot: {} } }, blanks, directory });
    await expect(assertNotASource(blank, parsePostgresUrl(primary.url('prod')))).rejects.toMatchObject(IS_SOURCE);
    await assertNotASource(blank, parsePostgresUrl(primary.url('dev')));
  });

  it('refuses an existing database of the same name while a source was never identified, and no other', async () => {
    await using folder = await temporaryFolder();
    const events: RunEvent[] = [];
    const snapshot = { src_url: AWAY, dst_url: primary.url('prod') };
    const world = { targets: { app: { snapshot } }, directory: folder.path, events };
    const context = contextOf(world);
    const prod = parsePostgresUrl(primary.url('prod'));
    const refused = assertNotASource(context, prod);
    await expect(refused).rejects.toMatchObject(UNVERIFIED);
    await expect(refused).rejects.not.toThrow(/secret/);
    await writeFile(join(folder.path, 'unverified-sources.json'), '{');
    await expect(assertNotASource(context, prod)).rejects.toMatchObject({
      ...UNVERIFIED,
      hint: expect.stringContaining('tool trust --unverified-sources app'),
    });
    await expect(declareSources(context, 'toString')).rejects.toMatchObject({ code: 'target_unknown' });
    const [declared = ''] = (await declareSources(context, 'app')).unverified_sources;
    expect(AWAY.replace(/:[^:]*secret[^@]*@/, '@')).toContain(declared);
    expect(await assertNotASource(context, prod)).toEqual(['app']);
    for (const url of [AWAY.replace('@', '@other.'), `${AWAY}?hostaddr=10.255.255.1`]) {
      const moved = { app: { snapshot: { ...snapshot, src_url: url } } };
      await expect(assertNotASource(contextOf({ ...world, targets: moved }), prod)).rejects.toMatchObject(UNVERIFIED);
    }
    const unnamed = parsePostgresUrl(primary.url('prod').replace('127.0.0.1', 'localhost'));
    await expect(assertNotASource(context, unnamed)).rejects.toMatchObject(UNVERIFIED);
    const blanks = { 'targets.app.snapshot.src_url': 'postgres://app:@/prod' };
    const blank = contextOf({ ...world, targets: { app: { snapshot: { dst_url: snapshot.dst_url } } }, blanks });
    await expect(declareSources(blank, 'app')).rejects.toMatchObject({ code: 'invalid_value' });
    expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'sources_unverified' }));
    // Another name is another database, and what does not exist cannot be lost.
    expect(await assertNotASource(context, parsePostgresUrl(primary.url('dev')))).toEqual([]);
    const away = { app: { snapshot: { src_url: AWAY.replace('/prod', '/fresh') } } };
    expect(
      await assertNotASource(contextOf({ ...world, targets: away }), parsePostgresUrl(primary.url('fresh'))),
    ).toEqual([]);
  });

  it('fills a template with blanks: what the URL says without its variables counts', async () => {
    await using folder = await temporaryFolder();
    const world = { targets: { app: { snapshot: {} } }, directory: folder.path };
    const key = 'targets.app.snapshot.src_url';
    const guard = (blank: string, database: string): Promise<string[]> =>
      assertNotASource(contextOf({ ...world, blanks: { [key]: blank } }), parsePostgresUrl(primary.url(database)));
    await expect(guard(`postgres://app:@localhost:${primary.port}/prod`, 'prod')).rejects.toMatchObject(IS_SOURCE);
    await expect(guard('postgres://app:@/prod', 'prod')).rejects.toMatchObject(UNVERIFIED);
    await expect(guard('postgres://app:@db.internal.invalid/', 'dev')).rejects.toMatchObject(UNVERIFIED);
    await expect(guard('', 'dev')).rejects.toMatchObject(UNVERIFIED);
    expect(await guard('postgres://app:@db.internal.invalid/prod', 'dev')).toEqual([]);
    expect(await guard('mysql://app:@db.internal.invalid/dev', 'dev')).toEqual([]);
  });

  it('resolves a service, PGSERVICE, PGHOSTADDR and a passfile by libpq', async () => {
    await using folder = await temporaryFolder();
    const services = join(folder.path, 'services.conf');
    const passwords = join(folder.path, 'passwords');
    const { port } = new URL(throughTunnel('prod'));
    const { password } = new URL(primary.url('prod'));
    await writeFile(
      services,
      `[prod]\nhost=127.0.0.1\nport=${port}\nuser=postgres\ndbname=prod\npassword=${password}\n`,
    );
    await writeFile(passwords, `*:*:*:*:${password}\n`, { mode: 0o600 });
    await chmod(passwords, 0o600);
    const cases: [string, NodeJS.ProcessEnv][] = [
      ['postgres:///prod?service=prod', {}],
      ['postgres://?service=prod', {}],
      ['postgres:///prod', { PGSERVICE: 'prod' }],
      [`postgres://postgres@db.internal.invalid:${port}/prod?passfile=${passwords}`, { PGHOSTADDR: '127.0.0.1' }],
    ];
    for (const [index, [src_url, variables]] of cases.entries()) {
      const environment = { ...process.env, PGSERVICEFILE: services, ...variables };
      const directory = join(folder.path, `${index}`);
      await mkdir(directory);
      const context = contextOf({ targets: { app: { snapshot: { src_url } } }, environment, directory });
      const prod = `${primary.url('prod')}?hostaddr=127.0.0.1`;
      await expect(assertNotASource(context, parsePostgresUrl(prod)), src_url).rejects.toMatchObject(IS_SOURCE);
    }
  }, 60_000);

  it('counts undo copies and databases in preparation as destinations', async () => {
    await using folder = await temporaryFolder();
    for (const name of ['dev.tool-undo', 'dev.tool-new-0a1b2c3d']) {
      await primary.createDatabase(name);
      const targets = { other: { snapshot: { src_url: throughTunnel(name) } } };
      const context = contextOf({ targets, directory: folder.path });
      const refused = assertNotASource(context, parsePostgresUrl(primary.url('dev')));
      await expect(refused, name).rejects.toMatchObject({ ...IS_SOURCE, message: expect.stringContaining(name) });
      // The check of the other way may still be ending.
      await primary.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
  }, 120_000);

  it('permits a load into a source whose owner allows it, however the source is recognized', async () => {
    await using folder = await temporaryFolder();
    const prod = parsePostgresUrl(primary.url('prod'));
    await primary.createDatabase('prod.tool-undo');
    const fallen = primary.url('prod').replace(/@.*/, '@127.0.0.1:1/prod');
    const cases = {
      address: { src_url: primary.url('prod'), code: 'destination_is_source' },
      identity: { src_url: throughTunnel('prod'), code: 'destination_is_source' },
      'undo copy': { src_url: throughTunnel('prod.tool-undo'), code: 'destination_is_source' },
      unverified: { src_url: fallen, code: 'sources_unverified' },
    };
    for (const [index, [how, { src_url, code }]] of Object.entries(cases).entries()) {
      const directory = join(folder.path, `${index}`);
      await mkdir(directory);
      const owner = { snapshot: { src_url }, subset: { src_url }, allow_destination_of: ['app'] };
      const world = { targets: { app: {}, other: {}, owner }, directory };
      // The second time a live identity is a remembered one.
      for (const events of [[], []] as RunEvent[][]) {
        expect(await assertNotASource(contextOf({ ...world, events }), prod, { target: 'app' }), how).toEqual([]);
        const warnings = events.filter((event) => event.event === 'warning');
        expect(warnings, how).toEqual([expect.objectContaining({ code: 'destination_allowed' })]);
      }
      for (const options of [{ target: 'other' }, { target: 'owner' }, {}]) {
        await expect(assertNotASource(contextOf(world), prod, options), how).rejects.toMatchObject({ code, exit: 5 });
      }
      // What one owner allows does not count for another one of the same database.
      const strict = { ...world, targets: { ...world.targets, strict: { snapshot: { src_url } } } };
      await expect(assertNotASource(contextOf(strict), prod, { target: 'app' }), how).rejects.toMatchObject({ code });
    }
    await primary.psql('postgres', { sql: 'DROP DATABASE "prod.tool-undo" WITH (FORCE)' });
  }, 120_000);

  it('refuses a database that was a source before a change of the configuration, until the user allows it', async () => {
    await using folder = await temporaryFolder();
    await primary.createDatabase('former');
    const before = { app: { snapshot: { src_url: primary.url('former'), dst_url: primary.url('dev') } } };
    await checkTarget(contextOf({ targets: before, directory: folder.path }), 'app');
    const exchanged = { app: { snapshot: { src_url: primary.url('dev'), dst_url: primary.url('former') } } };
    const renamed = { other: { snapshot: { src_url: primary.url('prod'), dst_url: primary.url('former') } } };
    const url = parsePostgresUrl(primary.url('former'));
    for (const targets of [exchanged, renamed]) {
      const context = contextOf({ targets, directory: folder.path });
      const [target = ''] = Object.keys(targets);
      await declareSources(context, target);
      const refused = assertNotASource(context, url, { target });
      await expect(refused).rejects.toMatchObject({ code: 'destination_was_source', exit: 5 });
      // Another name of the same server.
      const alias = parsePostgresUrl(primary.url('former').replace('127.0.0.1', 'localhost'));
      await expect(assertNotASource(context, alias, { target })).rejects.toMatchObject({
        code: 'destination_was_source',
      });
      await assertNotASource(context, parsePostgresUrl(primary.url('unrelated')), { target });
    }
    const context = contextOf({ targets: exchanged, directory: folder.path });
    await expect(forgetSource(context, 'postgres://nobody@nowhere.example.com/x')).rejects.toMatchObject({
      code: 'source_unknown',
      exit: 2,
    });
    expect(await forgetSource(context, url.display)).toEqual({ former_source: url.display });
    expect(await assertNotASource(context, url, { target: 'app' })).toEqual([]);
    // A present source stays one.
    const again = contextOf({ targets: before, directory: folder.path });
    await expect(assertNotASource(again, url, { target: 'app' })).rejects.toMatchObject(IS_SOURCE);
  });

  it('takes no source for identified when the file of identities is damaged', async () => {
    await using folder = await temporaryFolder();
    const directory = folder.path;
    const events: RunEvent[] = [];
    for (const text of ['', '{', '{"format":1}', '{"format":1,"sources":{"x":[{"url":"u"}]}}', '[]', '\0\0\0']) {
      await writeFile(join(directory, 'identities.json'), text);
      const context = contextOf({ targets: { app: { snapshot: { src_url: AWAY } } }, directory, events });
      const refused = assertNotASource(context, parsePostgresUrl(primary.url('prod')));
      await expect(refused, text).rejects.toMatchObject(UNVERIFIED);
    }
    expect(events).toContainEqual(expect.objectContaining({ code: 'identities_not_kept' }));
  });

  it('loads after a source was identified once, although it cannot be reached any more', async () => {
    await using folder = await temporaryFolder();
    const other = await startPostgres();
    await other.createDatabase('prod');
    const targets = { app: { snapshot: { src_url: other.url('prod'), dst_url: primary.url('copy') } } };
    const context = contextOf({ targets, directory: folder.path });
    await build(context, { target: 'app', cpus: 1 });
    await other.stop();
    await applyLoad(context, await planLoad(context, { target: 'app', cpus: 1 }));
    const { plan } = await planLoad(context, { target: 'app', destdb: primary.url('copy') });
    expect(plan.unverified_sources).toEqual([]);
    // Even a namesake: what the source said of itself is another database.
    expect(await assertNotASource(context, parsePostgresUrl(primary.url('prod')))).toEqual([]);
  }, 120_000);

  it('abandons a destination that accepts a connection and never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await using folder = await temporaryFolder();
    const src_url = `postgres://somebody@127.0.0.1:${port}/app`;
    const context = contextOf({ targets: { app: { snapshot: { src_url } } }, directory: folder.path });
    const other = assertNotASource(context, parsePostgresUrl(`postgres://somebody@127.0.0.1:${port}/other`));
    await expect(other).rejects.toMatchObject({ code: 'unreachable', exit: 4 });
    const same = assertNotASource(context, parsePostgresUrl(`postgres://localhost:${port}/app`));
    await expect(same).rejects.toMatchObject(IS_SOURCE);
    silent.close();
  }, 30_000);
});
