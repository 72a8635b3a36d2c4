import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { PROGRAM } from '../program.ts';

/** The program in a process group of its own. */
export interface ToolProcess {
  child: ChildProcess;
  /** Resolves with its first output: from here on it works. */
  begun: Promise<void>;
  /** Resolves when its output contains the words, or it has ended. */
  said(words: string): Promise<void>;
  /** Its exit code, or the signal that killed it, and its output. */
  ended: Promise<ToolEnd>;
  killGroup(): void;
  /** Processes that it has started, and theirs. */
  descendants(): number[];
}

export interface ToolEnd {
  code: number | null;
  signal: string | null;
  output: string;
}

export interface ToolProcessOptions {
  /** Before the words of the command. */
  config: string;
  words: string[];
  environment?: Record<string, string>;
  /** Runs it: `prlimit --nofile=64`. */
  under?: string[];
  /** Starts it; default: the Node of the tests. */
  node?: string;
}

/** The Node of the machine, when it is too old for the program: the launcher then starts another one. */
export function oldNode(): string | null {
  if (!existsSync(SYSTEM_NODE)) return null;
  const version = execFileSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' });
  return /^v(?:1\d|2[01])\./.test(version) ? SYSTEM_NODE : null;
}

const SYSTEM_NODE = '/usr/bin/node';

export function startTool({
  config,
  words,
  environment = {},
  under = [],
  node = process.execPath,
}: ToolProcessOptions): ToolProcess {
  const [file = '', ...args] = [...under, node, PROGRAM, '--config', config, '--yes', '--json', ...words];
  const child = spawn(file, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  let isOver = false;
  const heard = new EventEmitter();
  const until = async (isIt: () => boolean): Promise<void> => {
    while (!isIt() && !isOver) await once(heard, 'output');
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      heard.emit('output');
    });
  }
  const ended = new Promise<ToolEnd>((resolve, reject) => {
    child.once('error', reject);
    // Not `close`: what it has started may live on, and hold its output.
    child.once('exit', (code, signal) => {
      isOver = true;
      heard.emit('output');
      setImmediate(() => resolve({ code, signal, output }));
    });
  });
  return {
    child,
    begun: until(() => output !== ''),
    said: (words) => until(() => output.includes(words)),
    ended,
    killGroup() {
      // Never one that has ended: its number may be another group's by now.
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    },
    descendants: () => (child.pid === undefined ? [] : descendantsOf(child.pid)),
  };
}

/** The program with one configuration, as suites of killed commands need it. */
export interface Tool {
  start(words: string[]): ToolProcess;
  /** Runs a command that has to succeed; milliseconds from its first output to its end. */
  done(words: string[]): Promise<number>;
  /** Kills a command with its group so many milliseconds after its first output. */
  killedAfter(milliseconds: number, words: string[]): Promise<ToolEnd>;
}

/** Writes the configuration into the folder. */
export async function toolIn(folder: string, settings: Partial<Settings>): Promise<Tool> {
  const config = join(folder, 'tool.yml');
  const content = { secret_key: 'ab'.repeat(16), defaults: { cpus: 2 }, saves: { before: [] }, ...settings };
  await writeFile(config, JSON.stringify(content), { mode: 0o600 });
  const start = (words: string[]): ToolProcess => startTool({ config, words });
  return {
    start,
    async done(words) {
      const run = start(words);
      await run.begun;
      const started = performance.now();
      const { code, output } = await run.ended;
      expect(code, `${words.join(' ')}\n${output.slice(-3000)}`).toBe(0);
      return performance.now() - started;
    },
    async killedAfter(milliseconds, words) {
      const run = start(words);
      await run.begun;
      await Promise.race([run.ended, setTimeout(milliseconds)]);
      run.killGroup();
      return run.ended;
    },
  };
}

export function descendantsOf(pid: number): number[] {
  try {
    // A thread has the processes that it has started.
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '),
    );
    return children
      .filter((child) => child !== '')
      .flatMap((child) => [Number(child), ...descendantsOf(Number(child))]);
  } catch {
    return [];
  }
}
