import { type ChildProcess, spawn } from 'node:child_process';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { commandText } from '../text/shell-word.ts';
import { redact } from './redact.ts';

export interface GroupRequest {
  /** A program with its arguments, or one line for the shell. */
  command: string | string[];
  cwd: string;
  /** The whole environment. */
  environment: NodeJS.ProcessEnv;
  /** Ends the command with all processes that it has started. */
  signal: AbortSignal;
  report: Report;
}

export interface GroupResult {
  /** `null` after a signal. */
  exitCode: number | null;
  /** The end of both outputs, as they came. */
  output: string;
}

/** Characters. */
const OUTPUT_LIMIT = 64 * 1024;

/** Milliseconds after the end of the command in which its outputs are read, which a process of another group may hold. */
const READ_AFTER_END = 1000;

/**
 * The command is in a process group of its own, beside a process that waits for the end of a pipe from this program: the
 * pipe closes however the program ends, and the group ends with it. It is no child of the command.
 */
const GUARDED = `( (trap '' TERM; read -r _; kill -s TERM 0; sleep 3; kill -s KILL 0) <&3 >/dev/null 2>&1 & )
exec 3<&-
exec "$@"`;

/** Runs a command of the user's, without input, and leaves no process of its group. Rejects when it cannot start. */
export async function runGroup({ command, cwd, environment, signal, report }: GroupRequest): Promise<GroupResult> {
  signal.throwIfAborted();
  const words = typeof command === 'string' ? ['sh', '-c', command] : command;
  const described = redact(commandText(command));
  const startedAt = performance.now();
  const child = start(words, { cwd, environment });
  report({ event: 'command', command: described });
  const pipe = child.stdio[3];
  // Its other end is gone when the command has ended.
  pipe?.on('error', () => {});
  let [output, written] = ['', 0];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk.length;
      output = (output + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  const end = (): void => void pipe?.destroy();
  signal.addEventListener('abort', end, { once: true });
  // What the command has left would keep its outputs open.
  child.once('exit', () => {
    killGroup(child.pid);
    const giveUp = setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    }, READ_AFTER_END);
    child.once('close', () => clearTimeout(giveUp));
  });
  let failure: unknown;
  child.on('error', (error) => {
    failure = error;
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  const code = await promise;
  signal.removeEventListener('abort', end);
  const exitCode = child.pid === undefined ? null : code;
  const duration_ms = Math.round(performance.now() - startedAt);
  report({ event: 'command_ended', command: described, exit: exitCode, duration_ms });
  signal.throwIfAborted();
  if (child.pid === undefined) throw cannotStart(described, failure);
  return { exitCode, output: written > OUTPUT_LIMIT ? withoutFirstLine(output) : output };
}

/** A secret in the line that was cut would not be recognised. */
function withoutFirstLine(output: string): string {
  return output.includes('\n') ? output.slice(output.indexOf('\n') + 1) : '';
}

function start(words: string[], { cwd, environment }: Pick<GroupRequest, 'cwd' | 'environment'>): ChildProcess {
  try {
    return spawn('sh', ['-c', GUARDED, 'sh', ...words], {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
  } catch (error) {
    // Such as a NUL in an argument.
    throw cannotStart(redact(commandText(words)), error);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it runs any more.
  }
}

function cannotStart(command: string, cause: unknown): UserError {
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  return new UserError('tool_not_started', `Cannot start ${command}: ${reason}`, {
    hint: 'It runs by sh, in the folder of the configuration file.',
    cause,
  });
}
