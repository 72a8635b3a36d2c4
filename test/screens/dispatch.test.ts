import { describe, expect, test } from 'vitest';
import { dispatchKey, dispatchPaste } from '../../screens/dispatch.ts';
import { createModel, type Model, type ModelOptions, selectedTarget } from '../../screens/model.ts';
import type { TargetsPlace } from '../../screens/place.ts';
import { refreshTargets } from '../../screens/refresh.ts';
import { UserError } from '../../src/errors.ts';
import { type FakeWorld, fakeOperations, fakeTarget, fakeWorld } from '../helpers/fake-operations.ts';

const three = ['app', 'billing', 'legacy'].map((name) => fakeTarget({ name }));

describe('targets', () => {
  test('an error of one check is shown at that target and holds up no other', async () => {
    const world = fakeWorld({ targets: three, checks: { legacy: { status: 'denied', error: 'no password' } } });
    const operations = fakeOperations(world);
    const model = newModel(world, {
      operations: {
        ...operations,
        checkTarget: (session, target) =>
          target === 'legacy'
            ? operations.checkTarget(session, target)
            : Promise.reject(new UserError('the name cannot be found', { code: 'x', exit: 4 })),
      },
    });
    await refreshTargets(model);
    expect(model.targets.getState().entries.map(({ row }) => row.error)).toEqual([
      'the name cannot be found',
      'the name cannot be found',
      'no password',
    ]);
  });

  test('refreshing keeps the selection by identity', async () => {
    const world = fakeWorld({ targets: three, checks: {} });
    const model = await listed(world);
    press(model, 'j');
    world.targets = [fakeTarget({ name: 'aaa' }), ...three];
    void refreshTargets(model);
    await Promise.resolve();
    expect(selected(model)).toBe('billing');
  });

  test('a filter is text while it is typed: the keys of the screen do nothing', async () => {
    const model = await listed(fakeWorld({ targets: three }));
    press(model, '/', 'b', 'q', 'backspace', 'i');
    expect(model.navigation.top()).toMatchObject({ screen: 'targets', typing: { text: 'bi' } });
    press(model, 'enter');
    expect(model.navigation.top()).toMatchObject({ typing: null, list: { filter: 'bi' } });
    expect(selected(model)).toBe('billing');
    press(model, 'esc');
    expect(model.navigation.top()).toMatchObject({ list: { filter: '' } });
  });

  test('a paste goes into what is typed, and nowhere else', async () => {
    const model = await listed(fakeWorld({ targets: three }));
    dispatchPaste(model, 'b');
    expect(model.runs.store.getState().runs).toEqual([]);
    press(model, '/');
    dispatchPaste(model, 'legacy\n');
    expect(selected(model)).toBe('legacy');
  });
});

describe('what cannot be done says why', () => {
  test('without a source nothing is built', async () => {
    const model = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', src_url: null })] }));
    press(model, 'b');
    expect(notice(model)).toBe('app has no source database (snapshot.src_url)');
    expect(model.runs.store.getState().runs).toEqual([]);
  });

  test('without a snapshot nothing is loaded', async () => {
    const model = await listed(fakeWorld({ snapshots: {} }));
    press(model, 'enter', 'l');
    expect(notice(model)).toBe('There is no snapshot yet: b builds one');
  });

  test.each(['b', 'l', 'd', 'n', 'u'])('with --read-only, %s changes nothing', async (key) => {
    const model = await listed(fakeWorld(), { readOnly: true });
    press(model, 'enter');
    await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
    press(model, key);
    expect(notice(model)).toContain('--read-only');
    expect(model.navigation.top().screen).toBe('snapshots');
  });

  test('two pieces of work on one target do not run at once', async () => {
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
    press(model, 'b', 'esc', 'b');
    expect(notice(model)).toBe('Build a snapshot of app is going on');
    expect(model.runs.running()).toHaveLength(1);
  });
});

describe('a destination elsewhere', () => {
  test('is replaced only when its name was typed', async () => {
    const world = fakeWorld();
    world.destination = { ...world.destination, local: false };
    const model = await listed(world);
    press(model, 'enter');
    await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
    press(model, 'l');
    await until(() => asked(model));
    press(model, 'enter');
    expect(notice(model)).toBe('Type app_dev to go on');
    press(model, ...'app_de', 'enter');
    expect(notice(model)).toBe('That is not app_dev');
    press(model, 'v', 'enter');
    await model.runs.settled();
    expect(world.done).toEqual(['load app']);
  });
});

describe('leaving', () => {
  test('q leaves at once when nothing is going on, and does nothing below the root', async () => {
    let left = 0;
    const model = await listed(fakeWorld(), { terminal: { quit: () => (left += 1), rows: () => 24, copy: () => {} } });
    press(model, 'enter', 'q');
    expect(left).toBe(0);
    press(model, 'esc', 'q');
    expect(left).toBe(1);
  });

  test('q asks when work is going on', async () => {
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
    press(model, 'b', 'esc', 'q');
    expect(model.navigation.top().screen).toBe('quit');
  });

  test('Ctrl-C cancels the work; a second one within two seconds leaves', async () => {
    let now = 0;
    const left: number[] = [];
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }), {
      clock: () => new Date(now),
      terminal: { quit: () => left.push(now), rows: () => 24, copy: () => {} },
    });
    press(model, 'b', 'ctrl+c');
    await model.runs.settled();
    expect(model.runs.store.getState().runs[0]?.state.status).toBe('cancelled');
    now = 3000;
    press(model, 'ctrl+c');
    expect(left).toEqual([]);
    now = 4000;
    press(model, 'ctrl+c');
    await until(() => left.length === 1);
  });
});

test('work that failed is done again by r, in the place of the one that failed', async () => {
  const world = fakeWorld();
  const build = fakeOperations(world).build;
  let attempts = 0;
  const model = await listed(world, {
    operations: {
      ...fakeOperations(world),
      build: (session, request) => {
        attempts += 1;
        return attempts === 1 ? Promise.reject(new Error('disk full')) : build(session, request);
      },
    },
  });
  press(model, 'b');
  await model.runs.settled();
  press(model, 'r');
  await model.runs.settled();
  expect(world.done).toEqual(['build app']);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

describe('signing in', () => {
  test('shows where to go, then who one is', async () => {
    const copied: string[] = [];
    const gate = Promise.withResolvers<void>();
    const model = await listed(fakeWorld({ gate: gate.promise }), {
      terminal: { quit: () => {}, rows: () => 24, copy: (text) => copied.push(text) },
    });
    press(model, 's');
    await until(() => signInOf(model)?.prompt?.url === 'https://idp.example.com/auth');
    press(model, 'c');
    expect(copied).toEqual(['https://idp.example.com/auth']);
    gate.resolve();
    await until(() => signInOf(model)?.result?.name === 'ann@example.com');
  });

  test('by a code shows a picture of the URL as well, and takes the place of the other way', async () => {
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
    press(model, 's', 'd');
    await until(() => (signInOf(model)?.qr.length ?? 0) > 10);
    expect(signInOf(model)?.prompt).toMatchObject({ user_code: 'ABCD-EFGH' });
    press(model, 'esc');
    expect(model.navigation.top().screen).toBe('targets');
  });

  test('that fails can be begun again', async () => {
    const world = fakeWorld({ failSignIn: new UserError('refused', { code: 'sign_in_denied', exit: 4 }) });
    const model = await listed(world);
    press(model, 's');
    await until(() => signInOf(model)?.error?.code === 'sign_in_denied');
    world.failSignIn = null;
    press(model, 'r');
    await until(() => signInOf(model)?.result !== null);
  });
});

function signInOf(model: Model) {
  const place = model.navigation.top();
  return place.screen === 'sign-in' ? place : null;
}

function newModel(world: FakeWorld, options: Partial<ModelOptions> = {}): Model {
  return createModel({
    operations: fakeOperations(world),
    terminal: { quit: () => {}, rows: () => 24, copy: () => {} },
    clock: () => new Date('2026-11-21T05:00:00Z'),
    ...options,
  });
}

/** A model whose targets are listed; checks that never answer do not hold it up. */
async function listed(world: FakeWorld, options: Partial<ModelOptions> = {}): Promise<Model> {
  const model = newModel(world, options);
  void refreshTargets(model);
  await until(() => model.targets.getState().phase === 'ready');
  return model;
}

function press(model: Model, ...keys: string[]): void {
  for (const key of keys) dispatchKey(model, key);
}

function selected(model: Model): string | undefined {
  return selectedTarget(model.targets.getState(), model.navigation.top() as TargetsPlace)?.row.name;
}

function notice(model: Model): string | undefined {
  return model.navigation.store.getState().notice?.text;
}

function asked(model: Model): boolean {
  const place = model.navigation.top();
  return place.screen === 'confirm' && place.plan !== null;
}

async function until(isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue).toBe(true);
}
