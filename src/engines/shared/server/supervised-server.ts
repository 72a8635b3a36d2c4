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
  onErrorLine?: (line: string) => void;
}

/**
 * The server runs under a shell that reads a pipe from us. The pipe ends with us, even after `kill -9`, and the shell
 * then stops the server and removes its data. The shell has its own session, so that signals to our process group do
 * not reach it. Its output may not be read any more, so its commands are silent. A server ignores signals until it has
 * set its handlers, so they are repeated.
 */
const SUPERVISOR = `
exec 3<&0
"$0" "$@" </dev/null >&2 3<&- &
server=$!
{ read -r signal || signal=$LAST_SIGNAL; while kill -"$signal" "$server"; do sleep 1; done; } <&3 >/dev/null 2>&1 &
reader=$!
wait "$server" 2>/dev/null
kill "$reader" 2>/dev/null
[ -z "$DIRECTORY" ] || rm -rf "$DIRECTORY" 2>/dev/null`;

export function startSupervised(
  { runner }: EngineContext,
  { words, directory, user, lastSignal, ...options }: ServerStart,
): SupervisedServer {
  const { stdin, stdout, ended, unref } = runner.start(
    {
      file: '/bin/sh',
      args: ['-c', SUPERVISOR, ...words],
      env: { LC_ALL: 'C', DIRECTORY: directory ?? '', LAST_SIGNAL: lastSignal },
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
