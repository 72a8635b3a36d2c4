import { expect, test } from 'vitest';
import { boundedAnswer, errorAnswer } from '../../src/mcp/bounded-answer.ts';
import { createPlanTokens } from '../../src/mcp/plan-tokens.ts';
import { UserError } from '../../src/runtime/errors.ts';

const same = (text: string) => text;

test('an answer has short lists and says which were shortened, and stays below its limit', () => {
  const rows = Array.from({ length: 5000 }, (_, index) => ({ name: `row ${index}\u202e`, notes: ['n'.repeat(9000)] }));
  const answer = boundedAnswer({ rows }, same);
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(50_000);
  expect(answer).toMatchObject({ truncated: [{ at: 'rows', shown: 20, total: 5000 }] });
  expect((answer.rows as { name: string }[])[19]?.name).toBe('row 19 ');
  expect(boundedAnswer({ rows: ['a'] }, same)).toEqual({ rows: ['a'] });
  const wide = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key ${index}`, 'n'.repeat(2000)]));
  expect(() => boundedAnswer(wide, same)).toThrow(expect.objectContaining({ code: 'result_too_large' }));
});

test('an answer hides secrets in values, keys and errors', () => {
  const hide = (text: string) => text.replaceAll('Secret-1', '***');
  expect(boundedAnswer({ 'a Secret-1': { b: ['x Secret-1'] } }, hide)).toEqual({ 'a ***': { b: ['x ***'] } });
  const error = new UserError('unexpected', 'of Secret-1', { details: ['Secret-1'] });
  expect(errorAnswer(error, hide)).toEqual({
    error: { code: 'unexpected', message: 'of ***', hint: null, exit: 1, details: ['***'] },
  });
});

test('a token of a plan counts once, for its tool and arguments, for ten minutes', () => {
  let now = new Date('2026-11-01T00:00:00Z');
  const tokens = createPlanTokens(() => now);
  const plan = { tool: 'load', given: { target: 'app' } };
  const issue = () => tokens.issue({ ...plan, planned: 'the plan' });
  const refused = expect.objectContaining({ code: 'plan_token_invalid', hint: expect.stringContaining('plan_load') });
  const first = issue();
  expect(first.expires_at).toBe('2026-11-01T00:10:00.000Z');
  expect(tokens.take(first.token, plan)).toBe('the plan');
  expect(() => tokens.take(first.token, plan)).toThrow(refused);
  expect(() => tokens.take(undefined, plan)).toThrow(refused);
  expect(() => tokens.take(issue().token, { ...plan, given: { target: 'other' } })).toThrow(refused);
  const other = expect.objectContaining({ code: 'plan_token_invalid' });
  expect(() => tokens.take(issue().token, { ...plan, tool: 'build' })).toThrow(other);
  const late = issue();
  now = new Date('2026-11-01T00:10:00Z');
  expect(() => tokens.take(late.token, plan)).toThrow(refused);
  const all = Array.from({ length: 101 }, issue);
  expect(() => tokens.take(all[0]?.token, plan)).toThrow(refused);
  expect(tokens.take(all[100]?.token, plan)).toBe('the plan');
});
