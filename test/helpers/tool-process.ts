import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** `npm run prove` tries the bundle, as users have it; it starts four times as fast. */
const MAIN = process.env.PROVE_PROGRAM ?? new URL('../../src/main.ts', import.meta.url).pathname;

/** The program in a process group of its own. */
export interface ToolProcess {
  child: ChildProcess;
  /** Resolves with its first output: from here on it works. */
  begun: Promise<void>;
  /** Its exit code, or the signal that killed it, and its output. */
  ended: Promise<{ code: number | null; signal: string | null; output: string }>;
  killGroup(): void;
  /** Processes that it has started, and theirs. */
  descendants(): number[];
}

export interface ToolProcessOptions {
  /** Before the words of the command. */
  config: string;
  words: string[];
  environment?: Record<string, string>;
  /** Runs it: `prlimit --nofile=64`. */
  under?: string[];
}

export function startTool({ config, words, environment = {}, under = [] }: ToolProcessOptions): ToolProcess {
  const [file = '', ...args] = [...under, process.execPath, MAIN, '--config', config, '--yes', '--json', ...words];
  const child = spawn(file, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  const begun = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      begun.resolve();
    });
  }
  const ended = new Promise<Awaited<ToolProcess['ended']>>((resolve, reject) => {
    child.once('error', reject);
    // Not `close`: what it has started may live on, and hold its output.
    child.once('exit', (code, signal) => {
      begun.resolve();
      setImmediate(() => resolve({ code, signal, output }));
    });
  });
  return {
    child,
    begun: begun.promise,
    ended,
    killGroup() {
      const isOver = child.exitCode !== null || child.signalCode !== null;
      // Never one that has ended: its number may be another group's by now.
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    },
    descendants: () => (child.pid === undefined ? [] : descendantsOf(child.pid)),
  };
}

function descendantsOf(pid: number): number[] {
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
