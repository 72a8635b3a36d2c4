import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import type { AnyServer } from '../helpers/databases/any-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { stagingLeftovers } from '../helpers/storage/leftovers.ts';
import { startTool } from '../helpers/terminal/tool-process.ts';
import type { Round } from '../helpers/trials.ts';

const PROCESSES = 8;

/** Each round verifies all. */
const MOST_SNAPSHOTS = 8;

/** Errors that one of several processes may have because of the others: what it was to work on is gone, taken or changed. */
const EXPECTED = new Set([
  ...['snapshot_missing', 'snapshot_not_here', 'snapshot_not_here', 'plan_outdated', 'destination_busy'],
  ...['nothing_to_undo', 'no_base_copy', 'base_copy_outdated', 'storage_busy'],
]);

export interface Crowd {
  round(round: Round): Promise<void>;
}

/** One working directory, one bucket and one destination, which several processes use at once. */
export async function crowd(
  server: AnyServer,
  { folder, profile }: { folder: string; profile: BucketProfile },
): Promise<Crowd> {
  const work = join(folder, 'work');
  const config = join(folder, 'tool.yml');
  const target = {
    storage_profile: 'team',
    snapshot: { src_url: server.url('source'), dst_url: server.url('copy') },
    sanitize: { dst_url: server.url('clean'), override_query: "UPDATE person SET name = concat('p', id)" },
  };
  const settings = {
    secret_key: 'ab'.repeat(16),
    working_directory: work,
    storage_profiles: { team: profile },
    targets: { app: target },
  };
  const context = () => testContext({ settings });
  const tool = (words: string[]) => startTool({ config, words }).ended;
  await server.create('source');
  await server.run('source', [
    'CREATE TABLE person (id integer PRIMARY KEY, name varchar(60) NOT NULL)',
    `INSERT INTO person VALUES ${Array.from({ length: 500 }, (_, id) => `(${id}, 'person ${id}')`).join(',')}`,
    'CREATE TABLE turn (id integer PRIMARY KEY)',
  ]);
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  for (const words of [
    ['build', 'app', '--no-sanitize'],
    ['load', 'app', '--original'],
  ]) {
    const { code, output } = await tool(words);
    expect(code, output).toBe(0);
  }

  return {
    async round(round) {
      const { oneOf } = round;
      // So that the snapshots of two rounds differ.
      await server.run('source', [
        `INSERT INTO turn VALUES (${await server.column('source', 'SELECT count(*) FROM turn')})`,
      ]);
      const { snapshots } = await listSnapshots(context(), 'app');
      const some = () => oneOf(snapshots).id;
      const commands = Array.from({ length: PROCESSES }, () =>
        oneOf([
          ['build', 'app', '--no-sanitize'],
          ['build', 'app', '--no-sanitize', '--no-push'],
          ['load', 'app', '--original'],
          ['load', 'app', some(), '--original', '--keep-base'],
          ['undo', 'app'],
          ['reset', 'app'],
          ['push', 'app', some()],
          ['pull', 'app', some()],
          ['rm', 'app', some()],
          ['rm', 'app', some(), '--local'],
          ['prune', 'app', '--keep-last', '3'],
          ['verify', 'app', some()],
          ['sanitize', 'app'],
          ['target', 'app'],
        ]),
      );
      const at = commands.map((words) => words.join(' ')).join('; ');
      const ended = await Promise.all(commands.map(tool));
      for (const [index, { code, signal, output }] of ended.entries()) {
        const told = `${commands[index]?.join(' ')} beside ${at}\n${output.slice(-2000)}`;
        expect(signal, told).toBeNull();
        if (code === 0) continue;
        const [, error = 'none'] = /"event":"error","code":"(\w+)"/.exec(output) ?? [];
        if (!EXPECTED.has(error)) expect(`${code} ${error}`, told).toBe('an error because of the others');
      }
      await server.quiet();
      const after = await listSnapshots(context(), 'app');
      for (const { id, sanitized, where } of after.snapshots) {
        const original = !sanitized;
        for (const remote of where.map((place) => place === 'remote')) {
          const verified = verify(context(), { target: 'app', snapshot: id, original, remote });
          expect(await verified, `${id} after ${at}`).toMatchObject({ ok: true });
        }
      }
      // Whoever was last: the destination is whole, and belongs to one of the turns.
      const people = await server.column('copy', "SELECT count(*) FROM person WHERE name LIKE 'person %'");
      expect(people, `the destination after ${at}`).toEqual(['500']);
      const [turns = ''] = await server.column('copy', 'SELECT count(*) - coalesce(max(id) + 1, 0) FROM turn');
      expect(turns, `the destination after ${at}`).toBe('0');
      for (const words of [
        ['build', 'app', '--no-sanitize'],
        ['load', 'app', '--original'],
        ['sanitize', 'app'],
        ...(after.snapshots.length > MOST_SNAPSHOTS ? [['prune', 'app', '--keep-last', '2']] : []),
      ]) {
        const { code, output } = await tool(words);
        expect(code, `${words.join(' ')} after ${at}\n${output.slice(-3000)}`).toBe(0);
      }
      expect(await server.column('copy', 'SELECT count(*) FROM turn')).toEqual(
        await server.column('source', 'SELECT count(*) FROM turn'),
      );
      expect(
        (await server.databases()).filter((name) => name.includes('.tool-new-')),
        `leftovers after ${at}`,
      ).toEqual([]);
      expect(await stagingLeftovers(work), `leftovers in staging after ${at}`).toEqual([]);
    },
  };
}
