import type { AgentResult } from '../../results/agent-results.ts';
import { formatNumberOf } from '../../text/format.ts';

/** Summarizes a run with `--once`. */
export function agentText({ pool, builds }: AgentResult): string {
  if (builds.length === 0) return `No build is due in pool ${pool}`;
  const failed = builds.filter(({ outcome }) => outcome === 'failed').length;
  return `Built ${formatNumberOf(builds.length - failed, 'target')}${failed > 0 ? `, ${failed} failed` : ''}`;
}
