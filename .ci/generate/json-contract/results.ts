import * as v from 'valibot';
import { agentResult } from '../../../src/results/agent-results.ts';
import * as branch from '../../../src/results/branch-results.ts';
import { applyPlan, reconcileResult, signedIn } from '../../../src/results/cloud-results.ts';
import * as links from '../../../src/results/configuration/link-results.ts';
import { demoTour } from '../../../src/results/demo-results.ts';
import { flag } from '../../../src/results/fields.ts';
import * as load from '../../../src/results/load-results.ts';
import * as snapshots from '../../../src/results/results.ts';
import { classifyResult, ledgerCheck } from '../../../src/results/review/ledger-results.ts';
import { rehearsalPlan, rehearsalResult } from '../../../src/results/review/rehearsal-results.ts';
import { sanitizePlan, sanitizeResult, suggestion } from '../../../src/results/review/sanitize-results.ts';
import * as save from '../../../src/results/saves/save-results.ts';
import * as servers from '../../../src/results/server-results.ts';
import {
  subsetExplanation,
  subsetGraphResult,
  subsetPlan,
  subsetResult,
  subsetSuggestion,
} from '../../../src/results/subset-results.ts';

export type ResultShape = v.ObjectSchema<v.ObjectEntries, undefined>;

const planned = <Plan extends v.GenericSchema>(plan: Plan) => v.object({ dry_run: v.literal(true), plan });

const snapshot = snapshots.snapshotRow;
const restore = v.optional(v.pipe(snapshots.verifiedRestore, v.description('With `--verify-restore`.')));
const { original: _, snapshot: __, ...sanitized } = sanitizeResult.entries;

/** The keys that `done` has besides `event`, `command` and `duration_ms`. */
export const RESULTS: Record<string, ResultShape[]> = {
  build: [v.object({ snapshot, restore }), v.object({ snapshot, sanitized: snapshot, ...sanitized, restore })],
  load: [planned(load.loadPlan), load.loadResult],
  'sanitize check': [ledgerCheck],
  'sanitize classify': [classifyResult],
  sanitize: [planned(sanitizePlan), sanitizeResult, suggestion],
  save: [planned(save.savePlan), save.saveResult, planned(save.saveRemoval), save.saveRemoval],
  back: [planned(save.backPlan), save.backResult, save.backPoints],
  undo: [planned(load.undoPlan), load.loadResult],
  reset: [planned(load.resetPlan), load.resetResult, planned(load.dropCopiesPlan), load.dropCopiesResult],
  'branch create': [planned(branch.branchCreatePlan), branch.branchCreateResult],
  'branch reset': [planned(branch.branchResetPlan), branch.branchResetResult],
  'branch serve': [planned(branch.branchServePlan), branch.branchServeResult],
  'branch drop': [planned(branch.branchDropPlan), branch.branchDropResult],
  'branch prune': [planned(branch.branchPrunePlan), branch.branchPruneResult],
  'branch checkout': [planned(branch.branchCheckoutPlan), branch.branchCheckoutResult],
  'branch hook': [planned(branch.branchHookPlan), branch.branchHookResult],
  up: [planned(servers.upPlan), servers.upResult],
  down: [planned(servers.downPlan), servers.downResult],
  rehearse: [planned(rehearsalPlan), rehearsalResult],
  link: [planned(links.linkPlan), links.linkResult],
  unlink: [planned(links.unlinkPlan), links.unlinkResult],
  'branch switch': [planned(branch.branchSwitchPlan), branch.branchSwitchResult],
  subset: [planned(subsetPlan), subsetResult, subsetExplanation, subsetGraphResult, subsetSuggestion],
  push: [snapshots.transferResult],
  pull: [snapshots.transferResult],
  export: [snapshots.exportResult],
  import: [planned(snapshots.importPlan), snapshots.importResult],
  verify: [snapshots.verifyResult],
  agent: [agentResult],
  pin: [snapshots.annotatedSnapshot],
  unpin: [snapshots.annotatedSnapshot],
  tag: [snapshots.annotatedSnapshot],
  note: [snapshots.annotatedSnapshot],
  rm: [planned(snapshots.removePlan), snapshots.removePlan],
  prune: [planned(snapshots.prunePlan), snapshots.prunePlan],
  'auth login': [signedIn],
  'cloud apply': [v.object({ dry_run: flag, plan: applyPlan })],
  'hub reconcile': [reconcileResult],
  demo: [v.object({}), demoTour],
};
