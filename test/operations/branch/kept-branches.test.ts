import { cp, mkdir, rename } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { planBranchPrune } from '../../../src/operations/branch/prune/prune.ts';
import { applyBranchSwitch, planBranchSwitch } from '../../../src/operations/branch/switch/switch.ts';
import { planLoad } from '../../../src/operations/load/load.ts';
import { planReset } from '../../../src/operations/reset/reset.ts';
import { startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { createRepository } from '../../helpers/linked-repository.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithKind('postgres', 'branches that are in use', () => {
  const server = suiteResource(() => startAnyServer('postgres'));
  const repository = suiteResource(() => createRepository(server));

  beforeAll(async () => {
    await repository.link();
    repository.git('main', 'worktree', 'add', '--quiet', repository.path('one'), '-b', 'one');
  }, 60_000);

  async function pruned(folder: string, { unusedMs, settings = {} }: { unusedMs?: number; settings?: object } = {}) {
    const context = { ...repository.contextWith(settings), cwd: repository.path(folder) };
    const later = new Date(Date.now() + 30 * 86_400_000);
    const { plan } = await planBranchPrune({ ...context, clock: () => later }, { target: 'shop', unusedMs });
    return plan.targets.flatMap(({ branches }) => branches.map(({ name }) => name));
  }

  it('are not pruned from a copy, another clone, the moved repository or elsewhere while their tree lives', async () => {
    const { git, path } = repository;
    expect(await pruned('main')).toEqual([]);
    await cp(path('main'), path('copy'), { recursive: true });
    git('main', 'clone', '--quiet', path('main'), path('clone'));
    git('clone', 'branch', '-D', 'one');
    git('copy', 'branch', '-D', 'one');
    await mkdir(path('elsewhere'));
    for (const folder of ['copy', 'clone', 'elsewhere']) expect(await pruned(folder, { unusedMs: 1 })).toEqual([]);
    await rename(path('main'), path('moved'));
    git('moved', 'worktree', 'repair');
    expect(await pruned('moved', { unusedMs: 1 })).toEqual([]);
    await rename(path('moved'), path('main'));
    git('main', 'worktree', 'repair');
  });

  it('are not pruned after the tree has another git branch', async () => {
    const { git, path, contextWith } = repository;
    const settings = { branches: { follow: 'branch' } };
    expect(contextWith(settings).configuration.settings.branches).toMatchObject(settings.branches);
    git('one', 'checkout', '--quiet', '-b', 'later');
    expect(await pruned('main', { settings })).toEqual([]);
    git('main', 'worktree', 'remove', '--force', path('one'));
    expect(await pruned('main')).toEqual(['one']);
  });

  it('are not replaced by a load or a reset of the destination that has them while they are protected', async () => {
    const { contextWith } = repository;
    const request = { target: 'shop', name: 'kept' };
    await applyBranchCreate(contextWith(), await planBranchCreate(contextWith(), { ...request, protect: true }));
    const refused = { code: 'branch_protected', exit: 5 };
    const destdb = server.url('shop_dev_kept');
    await expect(planLoad(contextWith(), { target: 'shop', destdb })).rejects.toMatchObject(refused);
    await applyBranchSwitch(contextWith(), await planBranchSwitch(contextWith(), request));
    await expect(planReset(contextWith(), { target: 'shop' })).rejects.toMatchObject(refused);
    await expect(planLoad(contextWith(), { target: 'shop' })).rejects.toMatchObject(refused);
  });

  it('are found at the database of --destdb while the URL of another target has an unset variable', async () => {
    const request = { target: 'shop', name: 'apart', protect: true };
    await applyBranchCreate(repository.contextWith(), await planBranchCreate(repository.contextWith(), request));
    const context = repository.contextWith();
    const { settings } = context.configuration;
    settings.targets = { broken: { snapshot: {} }, ...settings.targets };
    context.configuration.deferred = [
      {
        ...{ severity: 'error', code: 'template_failed', key: 'targets.broken.snapshot.dst_url' },
        ...{ message: 'the variable X is not set', hint: null, file: null, line: null, column: null },
      },
    ];
    const destdb = server.url('shop_dev_apart');
    await expect(planLoad(context, { target: 'shop', destdb: server.url('elsewhere') })).resolves.toBeTruthy();
    await expect(planLoad(context, { target: 'shop', destdb })).rejects.toMatchObject({ code: 'branch_protected' });
  });
});
