import type { ExitCode } from '../runtime/errors.ts';

/** A build that an agent ran for the hub. */
export interface AgentBuild {
  target: string;
  /** Of the hub. */
  build: string;
  outcome: 'done' | 'failed';
  /** As `tool build` would have ended. */
  exit: ExitCode;
  /** Id of the published snapshot. */
  snapshot: string | null;
  /** Of the error. */
  code: string | null;
}

export interface AgentResult {
  pool: string;
  builds: AgentBuild[];
}
