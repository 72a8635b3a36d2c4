import { expect, it } from 'vitest';
import { eventTriggerStatements } from '../../../../src/engines/postgres/restore/event-triggers.ts';

const PLAIN = 'CREATE EVENT TRIGGER told ON ddl_command_end\n   EXECUTE FUNCTION public.tell();\n';

it.each([
  [PLAIN, ['CREATE EVENT TRIGGER "told" ON ddl_command_end EXECUTE FUNCTION "public"."tell"()']],
  [
    'CREATE EVENT TRIGGER "It\'s ""told""" ON sql_drop\n         WHEN TAG IN (\'DROP TABLE\', \'DROP VIEW\')\n   EXECUTE FUNCTION "Sales; Dept"."f()"();\n\nALTER EVENT TRIGGER "It\'s ""told""" ENABLE ALWAYS;\n',
    [
      'CREATE EVENT TRIGGER "It\'s ""told""" ON sql_drop WHEN TAG IN (\'DROP TABLE\', \'DROP VIEW\') EXECUTE FUNCTION "Sales; Dept"."f()"()',
      'ALTER EVENT TRIGGER "It\'s ""told""" ENABLE ALWAYS',
    ],
  ],
  [
    'CREATE EVENT TRIGGER told ON login\n   EXECUTE FUNCTION public.tell();\n\nALTER EVENT TRIGGER told ENABLE ALWAYS;\n',
    ['CREATE EVENT TRIGGER "told" ON login EXECUTE FUNCTION "public"."tell"()', 'ALTER EVENT TRIGGER "told" DISABLE'],
  ],
  [
    "COMMENT ON EVENT TRIGGER told IS 'isn''t; \\ this';\n\n\n",
    [`COMMENT ON EVENT TRIGGER "told" IS E'isn''t; \\\\ this'`],
  ],
])('the definition of an event trigger is rewritten: %j', (definition, statements) => {
  expect(eventTriggerStatements(definition)).toEqual(statements);
});

it.each([
  '',
  'DROP DATABASE shop;\n',
  `${PLAIN}DROP DATABASE shop;\n`,
  `DROP DATABASE shop;\n${PLAIN}`,
  PLAIN.replace('told', 'told ON sql_drop EXECUTE FUNCTION public.tell(); DROP DATABASE shop; --'),
  PLAIN.replace('public.tell()', 'public.tell(1)'),
  PLAIN.replace('public.tell', 'tell'),
  PLAIN.replace('told', '"told'),
  `${PLAIN}\nALTER EVENT TRIGGER other DISABLE;\n`,
  `${PLAIN}\nALTER EVENT TRIGGER told OWNER TO evil;\n`,
  PLAIN.replace('\n   EXECUTE', "\n         WHEN TAG IN ('a') AND x IN ('b')\n   EXECUTE"),
  "COMMENT ON EVENT TRIGGER told IS 'a'; DROP DATABASE shop; --';\n",
  "COMMENT ON EVENT TRIGGER told IS E'a\\'; DROP DATABASE shop; --';\n",
])('any other text is no definition of an event trigger: %j', (definition) => {
  expect(eventTriggerStatements(definition)).toBeNull();
});
