import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startThrowAwayServer } from '../../../src/engines/postgres/throw-away-server.ts';
import { describeWithPostgres, eventually, testContext } from '../../helpers/postgres-server.ts';

describeWithPostgres('a throw-away PostgreSQL server', () => {
  it('leaves neither a process nor a folder when it is stopped', async () => {
    const server = await startThrowAwayServer(testContext({ settings: {} }));
    expect(existsSync(server.directory)).toBe(true);
    expect(processesNaming(await processList(), server.directory)).not.toEqual([]);
    await server.stop();
    expect(existsSync(server.directory)).toBe(false);
    expect(processesNaming(await processList(), server.directory)).toEqual([]);
  });

  it('leaves nothing when the program that started it is killed', async () => {
    const child = spawn(process.execPath, [new URL('fixtures/hold-server.ts', import.meta.url).pathname], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const directory = await new Promise<string>((resolve) =>
      child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim())),
    );
    expect(existsSync(directory)).toBe(true);
    child.kill('SIGKILL');
    await eventually(async () => !existsSync(directory));
    await eventually(async () => processesNaming(await processList(), directory).length === 0);
  });
});

async function processList(): Promise<string> {
  const { runner } = testContext({ settings: {} });
  return (await runner.run({ file: 'ps', args: ['-eo', 'pid,args'] })).stdout;
}

function processesNaming(list: string, directory: string): string[] {
  return list.split('\n').filter((line) => line.includes(directory));
}
