/**
 * Where tokens are kept. The names are those of Web Storage; a method may return a promise, so that Keychain, Keystore and
 * AsyncStorage of React Native fit as they are. Use the secure storage of the system where there is one.
 */
export interface Storage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
}

/** Keeps tokens until the process ends. */
export function memoryStorage(): Storage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}
