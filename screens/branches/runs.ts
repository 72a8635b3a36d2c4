import type { PlannedBranches } from '../../src/operations/branch/create.ts';
import type { PlannedBranchDrop } from '../../src/operations/branch/drop.ts';
import type { PlannedBranchReset } from '../../src/operations/branch/reset.ts';
import type { PlannedBranchSwitch } from '../../src/operations/branch/switch.ts';
import {
  branchCreateQuestion,
  branchCreateSummary,
  branchDropQuestion,
  branchDropSummary,
  branchResetQuestion,
  branchResetSummary,
  branchSwitchQuestion,
  branchSwitchSummary,
} from '../../src/presentation/branch.ts';
import type { RunDefinition } from '../../src/state/runs.ts';
import type { Model } from '../app/model.ts';
import { refreshAfterRun } from '../app/refresh.ts';
import { replacedDatabase } from '../run/rivals.ts';

export function branchCreateRun(model: Model, planned: PlannedBranches): RunDefinition {
  const { plan } = planned;
  return {
    ...{ title: branchCreateQuestion(plan).title, target: plan.target, kind: 'branch', replaces: null },
    perform: async (session) => branchCreateSummary(await model.operations.applyBranchCreate(session, planned)),
  };
}

export function branchResetRun(model: Model, planned: PlannedBranchReset): RunDefinition {
  const { plan } = planned;
  const [first] = plan.branches;
  const replaces = first ? replacedDatabase({ ...plan.destination, database: first.database }) : null;
  return {
    ...{ title: branchResetQuestion(plan).title, target: plan.target, kind: 'branch', replaces },
    perform: async (session) => branchResetSummary(await model.operations.applyBranchReset(session, planned)),
  };
}

export function branchDropRun(model: Model, planned: PlannedBranchDrop): RunDefinition {
  const { plan } = planned;
  return {
    ...{ title: branchDropQuestion(plan).title, target: plan.target, kind: 'branch', replaces: null },
    perform: async (session) => branchDropSummary(await model.operations.applyBranchDrop(session, planned)),
  };
}

export function branchSwitchRun(model: Model, planned: PlannedBranchSwitch): RunDefinition {
  const { plan } = planned;
  const { target, destination } = plan;
  return {
    ...{ title: branchSwitchQuestion(plan).title, target, kind: 'branch', replaces: replacedDatabase(destination) },
    swaps: { database: destination.database, url: destination.url },
    perform: async (session) => {
      const result = await model.operations.applyBranchSwitch(session, planned);
      await refreshAfterRun(model, target);
      return branchSwitchSummary(result);
    },
  };
}
