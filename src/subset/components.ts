/**
 * Strongly connected components, each after those that it leads to (Tarjan). Iterative, because a chain may have
 * thousands of tables.
 */
export function components(nodes: Iterable<string>, next: (node: string) => string[]): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();

  function enter(node: string): { node: string; rest: string[] } {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    open.push(node);
    isOpen.add(node);
    return { node, rest: [...next(node)] };
  }

  function lower(node: string, to: number): void {
    low.set(node, Math.min(low.get(node) ?? to, to));
  }

  function close(node: string): void {
    if (low.get(node) !== order.get(node)) return;
    const members = open.splice(open.indexOf(node));
    for (const member of members) isOpen.delete(member);
    found.push(members);
  }

  for (const start of nodes) {
    if (order.has(start)) continue;
    const path = [enter(start)];
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const other = top.rest.pop();
      if (other === undefined) {
        path.pop();
        close(top.node);
        const above = path.at(-1);
        if (above) lower(above.node, low.get(top.node) ?? 0);
      } else if (!order.has(other)) {
        path.push(enter(other));
      } else if (isOpen.has(other)) {
        lower(top.node, order.get(other) ?? 0);
      }
    }
  }
  return found;
}
