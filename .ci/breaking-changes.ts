interface Node {
  $ref?: string;
  $defs?: Record<string, Node>;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Node[];
  properties?: Record<string, Node>;
  required?: string[];
  items?: Node;
  additionalProperties?: Node;
}

/**
 * What a reader of the earlier schema may stumble over in the output of the later one, one line each. New keys, events,
 * documents and values of an enumeration are no breaking changes; a reader ignores them.
 */
export function breakingChanges(earlier: object, later: object): string[] {
  const [before, after]: Node[] = [earlier, later];
  const definitions = Object.keys(before?.$defs ?? {});
  const events = (before?.anyOf ?? []).filter((old) => !after?.anyOf?.some(({ $ref }) => $ref === old.$ref));
  return [
    ...events.map(({ $ref }) => `${$ref} is no event any more`),
    ...definitions.flatMap((name) => compare(before?.$defs?.[name], after?.$defs?.[name], name)),
  ];
}

/** Named shapes are compared by themselves. */
function compare(before: Node = {}, after: Node | undefined, path: string): string[] {
  if (!after) return [`${path} was removed`];
  if (before.$ref !== undefined || after.$ref !== undefined) {
    return before.$ref === after.$ref ? [] : [`${path} is another shape: ${shown(before)} became ${shown(after)}`];
  }
  if (before.anyOf || after.anyOf) return compareChoices(before, after, path);
  if (before.type !== after.type || before.const !== after.const) {
    return [`${path} has another type: ${shown(before)} became ${shown(after)}`];
  }
  const lost = (before.enum ?? []).filter((value) => !after.enum?.includes(value));
  const optional = (before.required ?? []).filter((key) => key in (after.properties ?? {}));
  return [
    ...lost.map((value) => `${path} is never ${JSON.stringify(value)} any more`),
    ...optional.filter((key) => !after.required?.includes(key)).map((key) => `${path}.${key} may be absent`),
    ...Object.entries(before.properties ?? {}).flatMap(([key, schema]) =>
      compare(schema, after.properties?.[key], `${path}.${key}`),
    ),
    ...(before.items ? compare(before.items, after.items, `${path}[]`) : []),
    ...(before.additionalProperties
      ? compare(before.additionalProperties, after.additionalProperties, `${path}.*`)
      : []),
  ];
}

function compareChoices(before: Node, after: Node, path: string): string[] {
  const [old, now] = [before.anyOf ?? [before], after.anyOf ?? [after]];
  const becameNull = now.some(isNull) && !old.some(isNull);
  const lost = old.map((choice, index) =>
    now.map((one) => compare(choice, one, old.length > 1 ? `${path}(${index + 1})` : path)),
  );
  return [
    ...(becameNull ? [`${path} may be null`] : []),
    ...lost.flatMap((attempts) => attempts.sort((a, b) => a.length - b.length)[0] ?? []),
  ];
}

function isNull({ type }: Node): boolean {
  return type === 'null';
}

function shown({ $ref, type, ...rest }: Node): string {
  return $ref ?? (rest.const === undefined ? (type ?? 'anything') : JSON.stringify(rest.const));
}
