import { expect, test } from 'vitest';
import { createMessages } from '../../src/state/messages.ts';

test('a toast disappears with the first key after two seconds; its message stays in the history', () => {
  let now = 0;
  const messages = createMessages({ clock: () => new Date(now) });
  messages.add({ tone: 'good', text: 'Built', run: '1', toast: true });
  now = 1999;
  messages.seen();
  expect(messages.store.getState().toast?.text).toBe('Built');
  now = 2000;
  messages.seen();
  expect(messages.store.getState()).toMatchObject({ toast: null, all: [{ text: 'Built', run: '1', at: 0 }] });
});

test('messages are kept newest first, and no more than two hundred', () => {
  const messages = createMessages({ clock: () => new Date(0) });
  for (let index = 0; index < 205; index += 1) messages.add({ tone: 'good', text: `m${index}`, toast: false });
  const { all, toast } = messages.store.getState();
  expect(toast).toBeNull();
  expect(all).toHaveLength(200);
  expect(all.at(0)?.text).toBe('m204');
  expect(all.at(-1)?.text).toBe('m5');
});
