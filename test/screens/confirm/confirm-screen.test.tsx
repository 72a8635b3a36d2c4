import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { fakeSnapshot, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 40, rows: 10 },
];

test.for(SIZES)(
  'a plan scrolls to its last step, with subject and question in view, at $columns×$rows',
  async (size) => {
    const { model, steps } = await planned('aaaa0000');
    const seen: string[] = [];
    const indicators = new Set<string>();
    for (let page = 0; page < 40; page += 1) {
      const shown = await screenText(model, size);
      expect(shown).toContain('RAW app aaaa0000 → app_dev');
      expect(shown).toContain('❯ Cancel');
      expect(shown).toContain('Replace app_dev');
      seen.push(shown.replaceAll(/\s+/g, ' '));
      indicators.add(/lines \d+–\d+ of \d+/.exec(shown)?.[0] ?? 'none');
      press(model, 'pagedown');
    }
    const [first = ''] = seen;
    const all = seen.join('\n');
    for (const step of steps) expect(all).toContain(step.slice(0, 24));
    expect(first).not.toContain((steps.at(-1) as string).slice(0, 24));
    expect(indicators.size).toBeGreaterThan(1);
    expect(indicators).not.toContain('none');
    expect([...indicators].at(-1)).toMatch(/–(\d+) of \1$/);
  },
);

test('a plan that is cut ends with dots; in a high window the answers follow it', async () => {
  const { model, steps } = await planned('aaaa0000');
  const low = (await screenText(model, { columns: 80, rows: 24 })).split('\n');
  const dots = low.findIndex((line) => line.trimEnd().endsWith(' …'));
  expect(low[dots + 1]).toContain('2 sessions are open');
  const high = (await screenText(model, { columns: 80, rows: 60 })).split('\n');
  const last = high.findIndex((line) => line.includes(steps.at(-1)?.slice(0, 24) ?? ''));
  expect(high.findIndex((line) => line.includes('❯ Cancel')) - last).toBeLessThan(8);
  expect(high.join('\n')).not.toContain('…');
});

test('the badge of a run states the kind of its data, and a sanitized snapshot is selected before its original', async () => {
  const { model } = await planned(null);
  expect(await screenText(model, { columns: 40, rows: 10 })).toContain('SAFE app bbbb1111 → app_dev');
  answerConfirm(model, 'go');
  await until(() => model.navigation.top().screen === 'run');
  expect((await screenText(model, { columns: 40, rows: 10 })).split('\n')[0]).toContain('SAFE');
  await model.runs.settled();
});

/** The plan of a load: of the snapshot, or of the one that is selected at first. */
async function planned(id: string | null): Promise<{ model: Model; steps: string[] }> {
  const sanitized = fakeSnapshot({ id: 'bbbb1111', sanitized: true, sanitized_of: 'aaaa0000' });
  const model = await listed(fakeWorld({ snapshots: { app: [sanitized, fakeSnapshot({ id: 'aaaa0000' })] } }));
  press(model, 'enter');
  await until(() => (model.snapshots.getState().targets.app?.rows.length ?? 0) > 0);
  if (id !== null) press(model, 'k');
  press(model, 'l');
  await until(() => planOf(model) !== null);
  const question = planOf(model)?.question;
  if (!question) throw new Error('there is no plan');
  question.steps = Array.from({ length: 12 }, (_, index) => `Step ${index + 1} of the plan, in words that are longer`);
  return { model, steps: question.steps };
}

function planOf(model: Model) {
  const route = model.navigation.top();
  return route.screen === 'confirm' ? route.plan : null;
}
