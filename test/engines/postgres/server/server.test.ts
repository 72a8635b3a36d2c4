import { afterAll, expect, it, test } from 'vitest';
import { connectToServer } from '../../../../src/engines/postgres/connection/connect.ts';
import type { PostgresSession } from '../../../../src/engines/postgres/connection/session.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { createDatabase } from '../../../../src/engines/postgres/server/new-database.ts';
import { auxiliaryNames, lockDestination, sweepLeftovers } from '../../../../src/engines/postgres/server/server.ts';
import { describeWithPostgres, startPostgres, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const NAME_LIMIT = 63;
const LONG_NAMES = [
  'a'.repeat(46),
  'a'.repeat(63),
  'ü'.repeat(31),
  '🐘'.repeat(15),
  `a${'🐘'.repeat(15)}`,
  '数'.repeat(21),
];

test.for(['app', 'a'.repeat(45), ...LONG_NAMES])('auxiliary names of %s are within the length limit', (destination) => {
  const { shadow, undo, base, spare } = auxiliaryNames(destination);
  for (const name of [shadow(), undo, base, spare]) {
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(NAME_LIMIT);
    expect(name).not.toContain('\ufffd');
  }
});

test('a short name is complete in its auxiliary names', () => {
  expect(auxiliaryNames('app')).toMatchObject({
    ...{ prefix: 'app.tool-new-', undo: 'app.tool-undo' },
    ...{ base: 'app.tool-base', spare: 'app.tool-spare' },
  });
  expect(auxiliaryNames('app').shadow()).toMatch(/^app\.tool-new-[0-9a-f]{8}$/);
});

test('no two destinations share their names, however alike they begin', () => {
  const destinations = [...LONG_NAMES, ...LONG_NAMES.map((name) => name.replace(/.$/u, 'z'))];
  expect(new Set(destinations.map((name) => auxiliaryNames(name).undo)).size).toBe(destinations.length);
});

describeWithPostgres('a server of databases', () => {
  const postgres = suiteResource(() => startPostgres());
  const sessions: PostgresSession[] = [];

  afterAll(async () => {
    for (const session of sessions) await session.close();
  });

  async function open(): Promise<PostgresSession> {
    const session = await connectToServer(testContext({ settings: {} }), parsePostgresUrl(postgres.url('copy')));
    sessions.push(session);
    return session;
  }

  it('allows one load at a time into a destination, until its session ends', async () => {
    const [first, second] = [await open(), await open()];
    await lockDestination(first, "it's");
    await expect(lockDestination(second, "it's")).rejects.toMatchObject({ code: 'destination_busy', exit: 5 });
    await lockDestination(second, 'another');
    await first.close();
    await lockDestination(second, "it's");
  });

  it('keeps auxiliary names of a destination with a long name, and sweeps its own only', async () => {
    const server = await open();
    const destination = '🐘'.repeat(15);
    const shadow = auxiliaryNames(destination).shadow();
    const others = [auxiliaryNames(destination).undo, auxiliaryNames(`${destination.slice(2)}z`).shadow()];
    for (const name of [shadow, ...others]) await createDatabase(server, { name, locale: null, major: 15 });
    expect(await postgres.databases()).toEqual(expect.arrayContaining([shadow, ...others]));
    expect(await sweepLeftovers(server, destination)).toEqual([shadow]);
    expect(await postgres.databases()).toEqual(expect.arrayContaining(others));
    expect(await postgres.databases()).not.toContain(shadow);
  });

  it("takes the server's own locale where it does not know the source's, and says so", async () => {
    const server = await open();
    const known = { encoding: 'UTF8', collate: 'C', ctype: 'C', provider: 'c', icu_locale: null };
    expect(await createDatabase(server, { name: 'known', locale: known, major: 15 })).toBe(true);
    const unknown = { ...known, collate: 'xx_YY.utf8', ctype: 'xx_YY.utf8' };
    expect(await createDatabase(server, { name: 'unknown', locale: unknown, major: 15 })).toBe(false);
    expect(await postgres.databases()).toEqual(expect.arrayContaining(['known', 'unknown']));
  });
});
