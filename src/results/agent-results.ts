import type { ExitCode } from '../runtime/errors.ts';

/** A build that an agent ran for the hub. */
export interface AgentBuild {
  target: string;
  /** Id of the build on the hub. */
  build: string;
  outcome: 'done' | 'failed';
  /** Exit code that `tool build` would have ended with. */
  exit: ExitCode;
  /** Id of the published snapshot. */
  snapshot: string | null;
  /** Code of the error. */
  code: string | null;
}

export interface AgentResult {
  pool: string;
  builds: AgentBuild[];
}
