import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FRAME_BYTES } from '../../src/repository/objects/object-format.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { measuredRun } from '../helpers/terminal/measured-run.ts';

const OBJECT_BYTES = 5_000_000_000;
const MOST_MEGABYTES = 200;

describeWithS3('an object of 5 GB', () => {
  let server: S3Server;
  let folder: string;

  beforeEach(async () => {
    server = await startS3();
    folder = await mkdtemp(join(tmpdir(), 'tool-e2e-'));
  });

  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    { what: 'as it is', encrypt: false },
    { what: 'encrypted', encrypt: true },
  ])(`is pushed and pulled $what in ${MOST_MEGABYTES} MB of memory`, async ({ encrypt }) => {
    const profile = { ...(await server.bucket()), encrypt };
    const measure = async (machine: string, command: string): Promise<void> => {
      const directory = join(folder, machine);
      const config = join(folder, `${machine}.yml`);
      await mkdir(directory, { recursive: true });
      const settings = {
        secret_key: 'ab'.repeat(16),
        working_directory: directory,
        storage_profiles: { team: profile },
        targets: { app: { storage_profile: 'team', snapshot: { src_url: 'postgres://h/d' } } },
      };
      await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
      const words = [PROGRAM, '--config', config, '--json', command, 'app'];
      const { megabytes, seconds, output } = await measuredRun(process.execPath, words);
      console.log(`${command}: ${megabytes} MB of memory, ${seconds.toFixed(1)} s`);
      const done = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
      expect(done).toMatchObject({ event: 'done', objects: 1 });
      expect(done.bytes).toBeGreaterThan(OBJECT_BYTES);
      expect(megabytes).toBeLessThanOrEqual(MOST_MEGABYTES);
    };

    await storeTables(join(folder, 'here'), {
      ...{ target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' },
      contents: { large: incompressible() },
    });
    await measure('here', 'push');
    await measure('there', 'pull');
  });
});

/** The same for every frame of the object, each of which is compressed by itself. */
function* incompressible(): Generator<Uint8Array> {
  const frame = randomBytes(FRAME_BYTES);
  for (let bytes = 0; bytes < OBJECT_BYTES; bytes += frame.length) yield frame;
}
