import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { interrupt } from '../../../screens/commands/quit.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { newModel } from '../../helpers/terminal/driven-model.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('Ctrl-C says that a second one leaves, for as long as it does', () => {
  const quit = vi.fn();
  const model = newModel(fakeWorld(), { clock: () => new Date() });
  model.terminal.quit = quit;
  const notice = () => model.navigation.store.getState().notice?.text;
  interrupt(model);
  expect(notice()).toBe('Press Ctrl-C again to quit');
  vi.advanceTimersByTime(2000);
  expect(notice()).toBeUndefined();
  interrupt(model);
  expect(quit).not.toHaveBeenCalled();
  const another = { tone: 'good', text: 'Copied' } as const;
  model.navigation.notify(another);
  vi.advanceTimersByTime(2000);
  expect(notice()).toBe('Copied');
});

test('a second Ctrl-C soon after the first leaves', async () => {
  const quit = vi.fn();
  const model = newModel(fakeWorld(), { clock: () => new Date() });
  model.terminal.quit = quit;
  interrupt(model);
  vi.advanceTimersByTime(1900);
  interrupt(model);
  await vi.waitFor(() => expect(quit).toHaveBeenCalledOnce());
});
