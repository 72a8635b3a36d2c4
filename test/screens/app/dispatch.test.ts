import { describe, expect, test } from 'vitest';
import { dispatchPaste } from '../../../screens/app/dispatch.ts';
import { refreshTargets } from '../../../screens/app/lists/refresh.ts';
import type { Model } from '../../../screens/app/model.ts';
import type { Operations } from '../../../screens/app/operations.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { selectedTarget, type TargetsRoute } from '../../../screens/targets/targets-route.ts';
import type { TargetRow } from '../../../src/results/results.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakePlannedWork } from '../../helpers/fakes/fake-planned-work.ts';
import { type FakeWorld, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, newModel, press, running, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const three = ['app', 'billing', 'legacy'].map((name) => fakeTarget({ name }));

describe('targets', () => {
  test('an error of one check is shown at that target and holds up no other', async () => {
    const world = fakeWorld({ targets: three, checks: { legacy: { status: 'denied', error: 'no password' } } });
    const operations = fakeOperations(world);
    const model = newModel(world, {
      operations: {
        ...operations,
        refreshTargets: async (session, { listed, take }) => {
          const legacy = async (rows: TargetRow[]) =>
            (await listed(rows, null)).filter(({ name }) => name === 'legacy');
          await operations.refreshTargets(session, { listed: legacy, take });
          throw new UserError('unreachable', 'the name cannot be found');
        },
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

test('the newest snapshot of a target is loaded without opening the target', async () => {
  const world = fakeWorld();
  const model = await listed(world);
  press(model, 'l');
  await until(() => asked(model));
  expect(world.done).toEqual([]);
  answerConfirm(model, 'go');
  await model.runs.settled();
  expect(world.done).toEqual(['load app']);
});

describe('an impossible command explains why', () => {
  test('build is refused without a source', async () => {
    const model = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', src_url: null })] }));
    press(model, 'b');
    expect(notice(model)).toBe('app has no source database (snapshot.src_url)');
    expect(model.runs.store.getState().runs).toEqual([]);
  });

  test('load is refused without a snapshot, and says nothing of it before the list is read', async () => {
    const model = await listed(fakeWorld({ snapshots: {} }));
    press(model, 'enter', 'l');
    expect(notice(model)).toBe('The snapshots are being read');
    await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
    press(model, 'l');
    expect(notice(model)).toBe('There is no snapshot yet: press b to build one');
  });

  test('load is refused without a destination', async () => {
    const model = await listed(fakeWorld({ targets: [fakeTarget({ name: 'app', dst_url: null })] }));
    press(model, 'l');
    expect(notice(model)).toBe('app has no destination (snapshot.dst_url)');
  });

  test.each(['b', 'l', 'd', 'e', 'X', 'u'])('%s changes nothing with --read-only', async (key) => {
    const model = await listed(fakeWorld(), { readOnly: true });
    press(model, 'enter');
    await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
    press(model, key);
    expect(notice(model)).toContain('--read-only');
    expect(model.navigation.top().screen).toBe('snapshots');
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
    expect(notice(model)).toBe('Type app_dev to continue');
    press(model, ...'app_de', 'enter');
    expect(notice(model)).toMatch(/ is not app_dev$/);
    press(model, 'v', 'enter');
    await model.runs.settled();
    expect(world.done).toEqual(['load app']);
  });
});

describe('leaving', () => {
  test('q leaves at once when nothing is going on, and goes back on other screens', async () => {
    let left = 0;
    const model = await listed(fakeWorld(), {
      terminal: fakeTerminal({ quit: () => (left += 1) }),
    });
    press(model, 'enter', '?', 'q');
    expect(model.navigation.top().screen).toBe('snapshots');
    press(model, 'q');
    expect(model.navigation.top().screen).toBe('targets');
    expect(left).toBe(0);
    press(model, 'q');
    expect(left).toBe(1);
  });

  test('q asks when work is going on', async () => {
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }));
    press(model, 'b');
    await running(model);
    press(model, 'esc', 'q');
    expect(model.navigation.top().screen).toBe('quit');
  });

  test('Ctrl-C cancels the work; a second one within two seconds leaves', async () => {
    let now = 0;
    const left: number[] = [];
    const model = await listed(fakeWorld({ gate: new Promise(() => {}) }), {
      clock: () => new Date(now),
      terminal: fakeTerminal({ quit: () => left.push(now) }),
    });
    press(model, 'b');
    await running(model);
    press(model, 'ctrl+c');
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
  const work = fakePlannedWork(world);
  let attempts = 0;
  const apply: typeof work.build.apply = (session, planned) => {
    attempts += 1;
    return attempts === 1 ? Promise.reject(new Error('disk full')) : work.build.apply(session, planned);
  };
  const operations = fakeOperations(world, { ...work, build: { ...work.build, apply } });
  const model = await listed(world, { operations });
  press(model, 'b');
  await running(model);
  await model.runs.settled();
  press(model, 'r');
  await model.runs.settled();
  expect(world.done).toEqual(['build app']);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
});

describe('sanitizing', () => {
  test('shows the plan, then the work, then what was changed, findings first, and sanitizes again from there', async () => {
    const world = fakeWorld({ queryFile: '/etc/sanitize.sql' });
    const edited: string[] = [];
    const terminal = fakeTerminal({ edit: async (file: string) => void edited.push(file) });
    const model = await listed(world, { terminal });
    press(model, 'enter');
    await until(() => model.snapshots.getState().targets.app?.phase === 'ready');
    press(model, 's');
    await until(() => asked(model));
    expect(world.done).toEqual([]);
    answerConfirm(model, 'go');
    await model.runs.settled();
    expect(world.done).toEqual(['sanitize app']);
    press(model, 'enter');
    expect(model.navigation.top()).toMatchObject({ screen: 'coverage', list: { selected: null } });
    press(model, 'j', 'j');
    expect(model.navigation.top()).toMatchObject({ list: { selected: 'public.person.city' } });
    press(model, 'e');
    await until(() => notice(model) !== null);
    expect(edited).toEqual(['/etc/sanitize.sql']);
    press(model, 's');
    await until(() => asked(model));
    expect(model.navigation.top()).toMatchObject({ screen: 'confirm', title: 'sanitize snapshot snapshot-0 RAW' });
  });

  test('comes with a build where a query is configured, without a question where no database is replaced', async () => {
    const world = fakeWorld({ queryFile: '/etc/sanitize.sql' });
    const model = await listed(world);
    press(model, 'b');
    await running(model);
    await model.runs.settled();
    expect(world.done).toEqual(['sanitize app']);
  });

  test('a build without a question is never shown as a confirmation', async () => {
    for (const queryFile of [null, '/etc/sanitize.sql']) {
      const model = await listed(fakeWorld({ queryFile }));
      const shown: string[] = [];
      model.navigation.store.subscribe(() => shown.push(model.navigation.top().screen));
      press(model, 'b');
      await running(model);
      await model.runs.settled();
      expect(new Set(shown)).toEqual(new Set(['targets', 'run']));
    }
  });

  test('a second b while the build is planned builds nothing more', async () => {
    const world = fakeWorld();
    const model = await listed(world);
    press(model, 'b', 'b');
    expect(notice(model)).toBe('The build of app is being planned');
    await running(model);
    await model.runs.settled();
    expect(world.done).toEqual(['build app']);
  });

  test('a build that cannot be planned says why and what to do, and builds nothing', async () => {
    const world = fakeWorld();
    const error = new UserError('query_file_unreadable', 'the query cannot be read', { hint: 'look at sanitize.sql' });
    const work = fakePlannedWork(world);
    const build = { ...work.build, plan: () => Promise.reject(error) };
    const model = await listed(world, { operations: fakeOperations(world, { ...work, build }) });
    press(model, 'b');
    await until(() => model.navigation.top().screen === 'confirm');
    expect(model.navigation.top()).toMatchObject({ target: 'app', plan: null, error });
    press(model, 'esc');
    expect(model.navigation.top().screen).toBe('targets');
    expect(world.done).toEqual([]);
  });

  test('a question that comes when the user has gone elsewhere is not asked', async () => {
    const world = fakeWorld({ queryFile: '/etc/sanitize.sql' });
    const planning = Promise.withResolvers<void>();
    const model = await listed(world, { operations: replacingBuild(world, planning.promise) });
    press(model, 'b', 'enter');
    planning.resolve();
    await until(() => notice(model) !== undefined);
    expect(notice(model)).toBe('app was not built. Press b to try again');
    expect(model.navigation.top().screen).toBe('snapshots');
    expect(world.done).toEqual([]);
  });

  test('prompts before a build whose result replaces a database', async () => {
    const world = fakeWorld({ queryFile: '/etc/sanitize.sql' });
    const model = await listed(world, { operations: replacingBuild(world) });
    press(model, 'b');
    await until(() => asked(model));
    expect(model.runs.store.getState().runs).toEqual([]);
    answerConfirm(model, 'go');
    await model.runs.settled();
    expect(world.done).toEqual(['sanitize app']);
  });
});

/** The sanitization of the build replaces the destination of the world. */
function replacingBuild(world: FakeWorld, planning?: Promise<void>): Operations {
  const work = fakePlannedWork(world);
  const plan: typeof work.build.plan = async (session, request) => {
    await planning;
    const planned = await work.build.plan(session, request);
    const { sanitize } = planned.plan;
    return {
      ...planned,
      plan: { ...planned.plan, sanitize: sanitize && { ...sanitize, destination: world.destination } },
    };
  };
  return fakeOperations(world, { ...work, build: { ...work.build, plan } });
}

function selected(model: Model): string | undefined {
  return selectedTarget(model, model.navigation.top() as TargetsRoute)?.row.name;
}

function notice(model: Model): string | undefined {
  return model.navigation.store.getState().notice?.text;
}

function asked(model: Model): boolean {
  const place = model.navigation.top();
  return place.screen === 'confirm' && place.plan !== null;
}
