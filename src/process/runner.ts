import type { Readable, Writable } from 'node:stream';

export interface Mount {
  path: string;
  writable?: true;
  /** Not mounted when it is a folder: a path from outside must not open one. */
  fileOnly?: true;
}

/** An engine says what to run, a runner says where. */
export interface Command {
  file: string;
  /**
   * Never a secret: every user of the machine sees arguments. Hosts are in connection URLs or in `--host=NAME`, which a
   * runner may translate.
   */
  args: string[];
  /** Absolute paths in `args` and `env`, at the same place inside a container. */
  mounts?: Mount[];
  /** Added to the runner's environment; may contain secrets. */
  env?: Record<string, string>;
  /** Servers refuse root. */
  user?: { uid: number; gid: number };
  /** In a session of its own: the end of this process, or a signal to its group, does not end it. */
  detached?: true;
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
  input?: string;
  onErrorLine?: (line: string) => void;
}

export interface ProcessResult {
  /** `null` after a signal. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningProcess {
  stdin: Writable;
  stdout: Readable;
  /** Never rejects for an exit code. */
  ended: Promise<ProcessResult>;
  kill(): void;
  /** Lets this process exit first. */
  unref(): void;
}

export interface Runner {
  id: 'local' | 'docker';
  /** Rejects only when the program cannot start or the signal was aborted. */
  run(command: Command, options?: RunOptions): Promise<ProcessResult>;
  start(command: Command, options?: RunOptions): RunningProcess;
}
