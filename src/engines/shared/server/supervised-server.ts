import type { Command, Completed } from '../../../process/runner.ts';
import type { EngineContext } from '../../engine.ts';

/** A server that ends when we do. */
export interface SupervisedServer {
  /** Resolves when the server has ended and its data are removed. */
  ended: Promise<Completed>;
  /** Sends the signal, and waits. */
  stop(signal: string): Promise<void>;
}

export interface ServerStart {
  /** The program and its arguments. */
  words: [file: string, ...args: string[]];
  /** Removed as soon as the server has ended. */
  directory: string;
  user: Command['user'];
  /** What ends it at once, sent when nobody is left to say which: `QUIT`. */
  lastSignal: string;
}

/**
 * The server runs under a shell that reads a pipe from us. However we end, the pipe ends with us, and the shell stops
 * the server and removes its data: no exit handler would be run by `kill -9`. The shell is in a session of its own,
 * so that a signal to our process group, Ctrl-C and `kill -9` alike, does not take it along. Nobody may be left to
 * read what it writes, and a message of its own would end it: what may fail is silent.
 */
const SUPERVISOR = `
exec 3<&0
"$0" "$@" </dev/null >&2 3<&- &
server=$!
{ read -r signal || signal=$LAST_SIGNAL; kill -"$signal" "$server"; } <&3 2>/dev/null &
reader=$!
wait "$server" 2>/dev/null
kill "$reader" 2>/dev/null
rm -rf "$DIRECTORY" 2>/dev/null`;

export function startSupervised(
  { runner }: EngineContext,
  { words, directory, user, lastSignal }: ServerStart,
): SupervisedServer {
  const { stdin, stdout, ended } = runner.start({
    file: '/bin/sh',
    args: ['-c', SUPERVISOR, ...words],
    env: { LC_ALL: 'C', DIRECTORY: directory, LAST_SIGNAL: lastSignal },
    detached: true,
    ...(user && { user }),
  });
  stdout.resume();
  // It may have ended before it is told to.
  stdin.on('error', () => {});
  return {
    ended,
    async stop(signal) {
      stdin.end(`${signal}\n`);
      await ended;
    },
  };
}
