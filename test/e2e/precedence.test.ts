import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import type { LoadPlan } from '../../src/results/load-results.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

describeWithPostgres('which setting wins, as load --dry-run says', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('shop');
    await server.psql('shop', { sql: 'CREATE TABLE customer (id integer PRIMARY KEY)' });
    const target = (more: string) => `{ snapshot: { src_url: "${server.url('shop')}"${more} }`;
    const text = [
      `secret_key: ${'0123456789abcdef'.repeat(2)}`,
      `working_directory: ${join(folder.path, 'work')}`,
      'defaults: { cpus: 3 }',
      'targets:',
      `  own: ${target(`, dst_url: "${server.url('own')}"`)}, cpus: 2 }`,
      `  bare: ${target('')} }`,
    ];
    await writeFile(join(folder.path, 'tool.yml'), text.join('\n'), { mode: 0o600 });
    for (const name of ['own', 'bare']) await tool(['build', name]);
  });

  async function tool(words: string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
    const env = { ...process.env, TOOL_TRUST: 'true', HOME: folder.path, ...environment };
    return (await promisify(execFile)(process.execPath, [PROGRAM, ...words], { cwd: folder.path, env })).stdout;
  }

  async function plan(target: string, environment: NodeJS.ProcessEnv = {}, flags: string[] = []): Promise<LoadPlan> {
    const stdout = await tool(['load', target, '--dry-run', '--json', ...flags], environment);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '').plan;
  }

  async function chosen(...of: Parameters<typeof plan>): Promise<string> {
    const { destination, chosen_by } = await plan(...of);
    return `${destination.database} by ${chosen_by}`;
  }

  // Share targets list what is on a bucket: test/operations/destination.test.ts has theirs.
  it('has the destination: --destdb, then the own dst_url, override.dst_db_url', async () => {
    const override = { TOOL_OVERRIDE__DST_DB_URL: server.url('override') };
    const fallback = { TOOL_DEFAULTS__SHARED_TARGET_DST_DB_URL: server.url('fallback') };
    const both = { ...override, ...fallback };
    expect(await chosen('own', both, ['--destdb', server.url('flag')])).toBe('flag by --destdb');
    expect(await chosen('own', both)).toBe('own by targets.own.snapshot.dst_url');
    expect(await chosen('bare', both)).toBe('override by override.dst_db_url');
    await expect(chosen('bare', fallback)).rejects.toMatchObject({ code: 3 });
  });

  it('has the variable over the file, the flag over both, and the target over the defaults', async () => {
    const variable = { TOOL_TARGETS__OWN__SNAPSHOT__DST_URL: server.url('variable') };
    expect(await chosen('own', variable)).toBe('variable by targets.own.snapshot.dst_url');
    expect(await chosen('own', variable, ['--destdb', server.url('flag')])).toBe('flag by --destdb');
    const override = { TOOL_OVERRIDE__DST_DB_URL: server.url('override') };
    const jobs = async (...of: Parameters<typeof plan>) => (await plan(...of)).jobs;
    expect(await jobs('own', {}, ['--cpus', '5'])).toBe(5);
    expect(await jobs('own', { TOOL_TARGETS__OWN__CPUS: '4' })).toBe(4);
    expect(await jobs('own')).toBe(2);
    expect(await jobs('bare', override)).toBe(3);
    expect(await jobs('bare', { ...override, TOOL_DEFAULTS__CPUS: '6' })).toBe(6);
  });

  it('prints the same in text', async () => {
    expect(await tool(['load', 'own', '--dry-run'])).toMatch(/\n {2}Chosen by +targets\.own\.snapshot\.dst_url\n/);
  });
});
