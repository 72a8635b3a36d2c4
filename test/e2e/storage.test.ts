import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { eventProblems } from '../helpers/documents/json-contract.ts';
import { PROGRAM } from '../helpers/program.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithS3('the PROGRAM and a bucket', () => {
  const server = suiteResource(() => startS3());
  let profile: BucketProfile;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tool-e2e-'));
    profile = await server.bucket();
    const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z' };
    await storeSnapshot(join(folder, 'here'), { ...named, content: '1\tone\n' });
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Runs the program as on a machine of that name; what it prints, and its exit code. */
  async function tool(machine: string, ...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const config = join(folder, `${machine}.yml`);
    await mkdir(join(folder, machine), { recursive: true });
    const settings = {
      secret_key: 'ab'.repeat(16),
      working_directory: join(folder, machine),
      storage_profiles: { team: profile },
      targets: { app: { storage_profile: 'team', snapshot: { src_url: 'postgres://h/d' } } },
    };
    await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
    const run = promisify(execFile)(process.execPath, [PROGRAM, '--config', config, ...words], { cwd: folder });
    return run.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  }

  it('pushes, lists, pulls, verifies, exports, imports and prunes', async () => {
    const said = async (machine: string, line: string): Promise<string> => {
      const { code, stdout, stderr } = await tool(machine, ...line.split(' '));
      expect({ code, stderr: stderr.replaceAll(/^.*(step|✓|→|- ).*$/gm, '') }).toMatchObject({ code: 0 });
      return stdout;
    };
    const bucket = `s3://${profile.bucket}`;
    expect(await said('here', 'push app')).toMatch(`Pushed snapshot 0 of app (aaaa0000 RAW) to ${bucket}: 1 object, `);
    expect(await said('there', 'target app')).toMatch(/ 0 {2}aaaa0000 .* remote$/m);
    expect(await said('there', 'pull app')).toMatch(
      `Pulled snapshot 0 of app (aaaa0000 RAW) from ${bucket}: 1 object, `,
    );
    expect(await said('there', 'target app')).toMatch(/ local \+ remote$/m);
    expect(await said('there', 'verify app --remote')).toMatch('is intact: 1 file, 6 B read');
    expect(await said('there', 'export app -o app.zip')).toMatch('Exported snapshot 0 of app (aaaa0000 RAW) to ');
    expect(await said('elsewhere', 'import app.zip')).toBe('Imported snapshot aaaa0000 of app: 1 table, 1 row\n');
    expect(await said('there', 'prune --keep-last 1')).toBe('Every snapshot is kept: 1 snapshot\n');
    expect(await said('there', 'rm app 0 --yes')).toMatch('Removed snapshot 0 of app (aaaa0000 RAW)');
    expect(await said('here', 'target app')).toMatch(/ local$/m);
  });

  it('reports transfers with --json, and never a key', async () => {
    const { stdout } = await tool('here', 'push', 'app', '--json');
    expect(stdout.trimEnd().split('\n').flatMap(eventProblems)).toEqual([]);
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const said = events.map(({ event, step, state }) => [event, step, state].filter(Boolean).join(' '));
    // How often it says how far it is depends on how long that takes.
    expect(said.filter((words, index) => words !== said[index - 1])).toEqual([
      'step push started',
      'progress push',
      'step push done',
      'done',
    ]);
    expect(events.at(-1)).toMatchObject({ command: 'push', objects: 1, snapshot: { where: ['local', 'remote'] } });
    profile = { ...profile, secret_key: 'wrong-and-secret' };
    const failed = await tool('here', 'push', 'app', '--json', '--debug');
    expect(failed.code).toBe(4);
    expect(failed.stdout.trimEnd().split('\n').flatMap(eventProblems)).toEqual([]);
    expect(failed.stdout).toContain('"code":"storage_denied"');
    expect(failed.stdout + failed.stderr).not.toContain('wrong-and-secret');
  });
});
