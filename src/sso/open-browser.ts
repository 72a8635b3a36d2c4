/** Opens a browser on this machine; `null` without a display or a person. */
export function browserOf(environment: NodeJS.ProcessEnv): ((url: string) => Promise<void>) | null {
  const { DISPLAY, WAYLAND_DISPLAY, BROWSER, SSH_CONNECTION } = environment;
  const named = BROWSER?.split(':').find((name) => name !== '' && !name.includes('%'));
  if (named !== undefined) return (url) => openBrowser(url, named);
  const hasDisplay = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  const isElsewhere = Boolean(SSH_CONNECTION) && !DISPLAY && !WAYLAND_DISPLAY;
  return hasDisplay && !isElsewhere ? openBrowser : null;
}

/** A failure is ignored: the URL is shown too. */
async function openBrowser(url: string, named?: string): Promise<void> {
  const { default: open } = await import('open');
  const child = await open(url, named === undefined ? {} : { app: { name: named } }).catch(() => null);
  child?.on('error', () => {});
}
