import { expect, test } from 'vitest';
import { splitStatements } from '../../src/engines/postgres/sanitize/statements.ts';
import type { SuggestedColumn, SuggestedQuery } from '../../src/results/review/suggested-query.ts';
import { readKeepComments } from '../../src/sanitize/keep-comments.ts';
import { writeQuery } from '../../src/sanitize/suggestion.ts';

const column = (name: string, change: Partial<SuggestedColumn> = {}): SuggestedColumn => ({
  column: `public.person.${name}`,
  name: `"${name}"`,
  path: `public.person."${name}"`,
  meaning: 'a name of a person',
  generated: false,
  replacement: `mask("${name}")`,
  partners: [],
  ...change,
});

const query = (columns: SuggestedColumn[], change: Partial<SuggestedQuery> = {}): SuggestedQuery => ({
  heading: '-- heading',
  functions: 'CREATE FUNCTION mask(x text) RETURNS text LANGUAGE sql AS $$ SELECT x $$;',
  tables: [
    {
      name: 'public.person',
      columns,
      before: ['ALTER TABLE public.person DISABLE TRIGGER USER;'],
      after: ['ALTER TABLE public.person ENABLE TRIGGER USER;'],
      unchanged: [{ column: 'public.person.changed_at', sql: 'changed_at = changed_at' }],
    },
  ],
  keys: [
    {
      columns: ['public.person.email', 'public.login.email'],
      drop: 'ALTER TABLE public.login DROP CONSTRAINT by_email;',
      add: 'ALTER TABLE public.login ADD CONSTRAINT by_email FOREIGN KEY (email) REFERENCES person (email);',
    },
  ],
  beforeKeys: ['SET CONSTRAINTS ALL IMMEDIATE;'],
  closing: [],
  remarks: { triggers: 'triggers', keys: 'keys', end: 'end' },
  ...change,
});

const statements = (sql: string): string[] => splitStatements(sql).map(({ text }) => text.replaceAll(/\s+/g, ' '));

test('a column that is left keeps its trigger and key, and with a reason gets a comment', () => {
  const columns = [column('name'), column('email')];
  const both = writeQuery(query(columns));
  expect(both).toContain('DROP CONSTRAINT by_email');
  expect(both).toContain('DISABLE TRIGGER');
  const one = writeQuery(query(columns), { 'public.person.email': { action: 'leave', reason: 'they agreed' } });
  expect(statements(one).join('\n')).not.toMatch(/by_email|mask\("email"\)|CONSTRAINTS/);
  expect(one).toContain('"name" = mask("name")');
  expect(readKeepComments(one)).toEqual([
    expect.objectContaining({ column: 'public.person.email', reason: 'they agreed' }),
  ]);
  const none = writeQuery(query(columns), {
    'public.person.email': { action: 'leave', reason: '' },
    'public.person.name': { action: 'leave', reason: '' },
  });
  expect(none).toBe('-- heading');
});

test('a column that the server would change keeps its value, unless it is changed itself', () => {
  const columns = [column('name'), column('changed_at')];
  expect(writeQuery(query(columns))).not.toContain('changed_at = changed_at');
  const choices = { 'public.person.changed_at': { action: 'leave', reason: '' } } as const;
  expect(writeQuery(query(columns), choices)).toContain('changed_at = changed_at');
});

test('a value with a comment does not comment out the next column', () => {
  const sql = writeQuery(query([column('name'), column('email')]), {
    'public.person.name': { action: 'replace', sql: "'x' -- all alike" },
  });
  const update = statements(sql).find((text) => text.startsWith('UPDATE'));
  expect(update?.replaceAll(/--[^\n]*?(?= ,| "|$)/g, '')).toMatch(/"name" = 'x' .*, .*"email" = mask/);
});

test('names and reasons with line breaks add no SQL to the query', () => {
  const hostile = 'a\nDROP TABLE public.person; --';
  const named = column(hostile, { replacement: null });
  expect(statements(writeQuery(query([column('email'), named]))).filter((text) => text.startsWith('DROP'))).toEqual([]);
  const kept = writeQuery(query([column('email'), named]), {
    'public.person.email': { action: 'leave', reason: 'agreed\nDROP TABLE public.person;' },
    [named.column]: { action: 'leave', reason: 'agreed' },
  });
  expect(statements(kept)).toEqual([]);
  expect(readKeepComments(kept)).toHaveLength(1);
});

test('comments have no control or bidirectional characters of a name or reason', () => {
  const named = column('a\x1b]0;b\u202ec', { replacement: null });
  const sql = writeQuery(query([column('email'), named]), {
    'public.person.email': { action: 'leave', reason: 'agreed\x1b[2J' },
  });
  const comments = sql.split('\n').filter((line) => line.startsWith('--'));
  expect(comments.join('\n')).toContain('agreed');
  expect(comments.filter((line) => line.includes('\x1b') || line.includes('\u202e'))).toEqual([]);
});

test('a generated column is not assigned, whatever was chosen', () => {
  const generated = column('full', { generated: true, replacement: null });
  const sql = writeQuery(query([column('name'), generated]), { [generated.column]: { action: 'replace', sql: "'x'" } });
  expect(statements(sql).join()).not.toContain('"full" =');
});
