import { execa, type Options } from 'execa';
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

/**
 * The command is in a process group of its own, beside a process that waits for the end of a pipe from this program: the
 * pipe closes however the program ends, and the group ends with it. `trap :` is not inherited, unlike an ignored signal.
 */
const GUARDED = `(trap '' TERM; read -r _; kill -s TERM 0; sleep 3; kill -s KILL 0) <&3 >/dev/null 2>&1 &
exec 3<&-
trap : TERM
"$@"`;

/** Runs a command of the user's, without input, and leaves no process of it. Rejects when it cannot start. */
export async function runGroup({ command, cwd, environment, signal, report }: GroupRequest): Promise<GroupResult> {
  signal.throwIfAborted();
  const words = typeof command === 'string' ? ['sh', '-c', command] : command;
  const described = redact(commandText(command));
  const startedAt = performance.now();
  report({ event: 'command', command: described });
  const child = execa('sh', ['-c', GUARDED, 'sh', ...words], {
    cwd,
    env: environment,
    extendEnv: false,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    buffer: false,
    reject: false,
  } satisfies Options);
  const { nodeChildProcess } = child;
  const pipe = nodeChildProcess.stdio[3];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_LIMIT);
    });
  }
  const end = (): void => void pipe?.destroy();
  signal.addEventListener('abort', end, { once: true });
  // What the command has left would keep its outputs open.
  nodeChildProcess.once('exit', () => killGroup(nodeChildProcess.pid));
  const { exitCode = null, signal: by, cause } = await child.finally(() => signal.removeEventListener('abort', end));
  const duration_ms = Math.round(performance.now() - startedAt);
  report({ event: 'command_ended', command: described, exit: exitCode ?? null, duration_ms });
  signal.throwIfAborted();
  if (exitCode === undefined && by === undefined) throw cannotStart(described, cause);
  return { exitCode: exitCode ?? null, output };
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
