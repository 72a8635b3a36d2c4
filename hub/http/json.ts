import { createHash } from 'node:crypto';

interface Json {
  text: string;
  hash: () => string;
}

/** A list may be the body of many answers: it is written and hashed once. */
const texts = new WeakMap<object, Json>();

export function jsonOf(body: object): Json {
  const known = texts.get(body);
  if (known) return known;
  const text = JSON.stringify(body);
  let hash: string | undefined;
  const json = {
    text,
    hash() {
      hash ??= createHash('sha256').update(text).digest('base64url').slice(0, 27);
      return hash;
    },
  };
  texts.set(body, json);
  return json;
}
