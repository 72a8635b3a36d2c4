import { expect } from 'vitest';
import { createModel, type ModelOptions } from '../../../screens/app/create-model.ts';
import { dispatchKey } from '../../../screens/app/dispatch.ts';
import { refreshTargets } from '../../../screens/app/lists/refresh.ts';
import type { Model } from '../../../screens/app/model.ts';
import { fakeOperations } from '../fakes/fake-operations.ts';
import type { FakeWorld } from '../fakes/fake-world.ts';
import { fakeTerminal } from './fake-terminal.ts';

/** The screens without a terminal. */
export function newModel(world: FakeWorld, options: Partial<ModelOptions> = {}): Model {
  return createModel({
    operations: fakeOperations(world),
    terminal: fakeTerminal(),
    clock: () => new Date('2026-11-21T05:00:00Z'),
    ...options,
  });
}

/** Resolves when work has begun: what is to be done is looked up first. */
export function running(model: Model): Promise<void> {
  return until(() => model.runs.store.getState().runs.length > 0);
}

/** A model whose targets are listed; checks that never answer do not hold it up. */
export async function listed(world: FakeWorld, options: Partial<ModelOptions> = {}): Promise<Model> {
  const model = newModel(world, options);
  void refreshTargets(model);
  await until(() => model.targets.getState().phase === 'ready');
  return model;
}

/** Keys, one after the other. */
export function press(model: Model, ...keys: string[]): void {
  for (const key of keys) dispatchKey(model, key);
}

/** However busy the machine is. */
export async function until(isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue, { timeout: 20_000 }).toBe(true);
}
