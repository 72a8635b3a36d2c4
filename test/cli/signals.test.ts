import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { abortOnSignals } from '../../src/cli/signals.ts';

function listening() {
  const source = new EventEmitter();
  const exits: number[] = [];
  let now = 1000;
  const signal = abortOnSignals({ source, clock: () => new Date(now), exitNow: (code) => exits.push(code) });
  return { source, exits, signal, wait: (milliseconds: number) => (now += milliseconds) };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
])('%s aborts with exit %d', (name, exit) => {
  const { source, signal } = listening();
  expect(signal.aborted).toBe(false);
  source.emit(name);
  expect(signal.reason).toMatchObject({ code: 'interrupted', exit });
});

test('a second Ctrl-C within two seconds ends at once', () => {
  const { source, exits, wait } = listening();
  source.emit('SIGINT');
  wait(2000);
  source.emit('SIGINT');
  expect(exits).toEqual([130]);
});

test('an interrupt that the launcher passes on is the same as that of the terminal', () => {
  const { source, exits, wait } = listening();
  source.emit('SIGINT');
  wait(50);
  source.emit('SIGINT');
  expect(exits).toEqual([]);
});

test('a second Ctrl-C later than that is a first one again', () => {
  const { source, exits, wait } = listening();
  source.emit('SIGINT');
  wait(2001);
  source.emit('SIGINT');
  expect(exits).toEqual([]);
});
