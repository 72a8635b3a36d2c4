/** Reports whether a URL leads to this machine, by its text: a name may resolve to anything. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
