import type { Command, ProcessResult } from '../../../process/runner.ts';
import type { EngineContext } from '../../engine-context.ts';

export interface SupervisedServer {
  ended: Promise<ProcessResult>;
  stop(signal: string): Promise<void>;
  /** Lets this process exit first. */
  unref(): void;
}

export interface ServerStart {
  words: [file: string, ...args: string[]];
  /** Removed when the server has ended; `null` where the caller removes it. */
  directory: string | null;
  user: Command['user'];
  /** For an immediate shutdown after our own death: `QUIT`. */
  lastSignal: string;
  /** The folder stays when the program has succeeded. */
  keep?: boolean;
  onErrorLine?: (line: string) => void;
}

/**
 * The server runs under a shell that reads a pipe from us. The pipe ends with us, even after `kill -9`, and the shell
 * then stops the server and removes its data. The shell has its own session, so that signals to our process group do
 * not reach it. Its output may not be read any more, so its commands are silent. A server ignores signals until it has
 * set its handlers, so they are repeated. Its children may still write files, so the removal is repeated too.
 */
const SUPERVISOR = `
exec 3<&0
"$0" "$@" </dev/null >&2 3<&- &
server=$!
{ read -r signal || signal=$LAST_SIGNAL; while kill -"$signal" "$server"; do sleep 1; done; } <&3 >/dev/null 2>&1 &
reader=$!
wait "$server" 2>/dev/null
status=$?
kill "$reader" 2>/dev/null
[ -z "$DIRECTORY" ] || [ "$KEEP$status" = true0 ] ||
  for pause in 1 1 1 2 5; do rm -rf "$DIRECTORY" 2>/dev/null && break; sleep "$pause"; done
exit "$status"`;

export function startSupervised(
  { runner }: EngineContext,
  { words, directory, user, lastSignal, keep = false, ...options }: ServerStart,
): SupervisedServer {
  const { stdin, stdout, ended, unref } = runner.start(
    {
      file: '/bin/sh',
      args: ['-c', SUPERVISOR, ...words],
      env: { LC_ALL: 'C', DIRECTORY: directory ?? '', LAST_SIGNAL: lastSignal, KEEP: String(keep) },
      detached: true,
      ...(user && { user }),
    },
    options,
  );
  stdout.resume();
  // It may have ended already.
  stdin.on('error', () => {});
  return {
    ended,
    unref,
    async stop(signal) {
      stdin.end(`${signal}\n`);
      await ended;
    },
  };
}

/** Runs a program that creates files of a server; the folder is removed when it fails, or when this process dies. */
export async function runSupervised(context: EngineContext, start: Pick<ServerStart, 'words' | 'directory' | 'user'>) {
  const { signal } = context;
  const { ended, stop } = startSupervised(context, { ...start, lastSignal: 'TERM', keep: true });
  const abort = (): void => void stop('TERM');
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  const result = await ended.finally(() => signal.removeEventListener('abort', abort));
  signal.throwIfAborted();
  return result;
}
