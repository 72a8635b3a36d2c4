import type { Operations } from '../../../screens/app/operations.ts';
import { settingsSchema } from '../../../src/config/schema/settings.ts';
import { shapeOf } from '../../../src/config/schema/shape.ts';
import {
  addChange,
  changeConfigurationDraft,
  diffDraft,
  openDraft,
  redoDraft,
  saveDraft,
} from '../../../src/operations/configuration/edit-configuration.ts';
import type { CheckWithFixes } from '../../../src/operations/configuration/fix.ts';
import { draftSubset } from '../../../src/operations/subset/save-subset.ts';
import type { RunContext } from '../../../src/state/runs.ts';
import type { FakeWorld } from './fake-world.ts';
import { unlessAborted } from './unless-aborted.ts';

type Configuring =
  | 'openDraft'
  | 'changeDraft'
  | 'addChange'
  | 'redoDraft'
  | 'diffDraft'
  | 'saveDraft'
  | 'draftSubset'
  | 'listSourceNames'
  | 'checkWithFixes'
  | 'planConfigurationFix'
  | 'applyFix';

/** What is done with the world's configuration: its file is a real one. */
export function fakeConfiguration(world: FakeWorld): Pick<Operations, Configuring> {
  return {
    checkWithFixes: (session) => diagnoseIn(world, session),
    planConfigurationFix: async (fix) => {
      const { planConfigurationFix } = await import('../../../src/operations/configuration/fix.ts');
      return { plan: await planConfigurationFix(world.configuration, fix), shape: shapeOf(settingsSchema) };
    },
    applyFix: async (plan) => {
      const { applyConfigurationFix } = await import('../../../src/operations/configuration/fix.ts');
      await applyConfigurationFix(world.configuration, plan);
    },
    openDraft: () => openDraft(world.configuration),
    listSourceNames: async ({ signal }) => {
      await unlessAborted(world.gate, signal);
      if (world.failNames) throw world.failNames;
      return { schema: [{ name: 'sales', size_bytes: 1_400_000 }], table: world.tables };
    },
    changeDraft: (draft, changes) => changeConfigurationDraft(world.configuration, draft, changes),
    addChange: (draft, change) => addChange(world.configuration, draft, change),
    diffDraft: async (draft) => diffDraft(draft),
    redoDraft: (draft) => redoDraft(world.configuration, draft),
    saveDraft: (draft) => saveDraft(world.configuration, draft),
    draftSubset: (saving) => draftSubset(world.configuration, saving),
  };
}

/** Of a real file what is wrong with it, else what the world says. */
async function diagnoseIn({ check, configuration }: FakeWorld, session: RunContext): Promise<CheckWithFixes> {
  const fixes = check.problems.map(() => null);
  if (configuration.cwd === '/nowhere') return { report: check, fixes, encrypt: null, makeFolder: null };
  // Only who looks at a real file pays for loading all that is looked at.
  const { checkWithFixes } = await import('../../../src/operations/configuration/fix.ts');
  return checkWithFixes({ ...configuration, ...session, offline: true, clock: () => new Date(0) });
}
