import type { BranchFacet } from './facets/branch.ts';
import type { ConnectFacet } from './facets/connect.ts';
import type { DumpFacet } from './facets/dump.ts';
import type { RestoreFacet } from './facets/restore.ts';
import type { SanitizeFacet } from './facets/sanitize.ts';
import type { SubsetFacet } from './facets/subset.ts';
import type { EngineId } from './list.ts';

export interface Engine {
  id: EngineId;
  capabilities: Capabilities;
  connect: ConnectFacet;
  dump: DumpFacet;
  restore: RestoreFacet;
  sanitize: SanitizeFacet;
  subset: SubsetFacet;
  branches: BranchFacet;
}

export interface Capabilities {
  /** Why a restore stops at its first error; `null` where it can continue. */
  whyNotKeepGoing: string | null;
  /** The vendor's program that makes every dump; `null` where the engine reads the database itself. */
  onlyProgram: string | null;
}
