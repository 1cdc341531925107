/** What a store declares about itself. It decides which requirements apply; nothing else does. */
export interface DeclaredCapabilities {
  /** Other store objects, also of other processes, may use the same place at the same time. */
  readonly shared: boolean;
  /** What was stored is there after the store was closed and opened again. */
  readonly durable: boolean;
}

/** A place of its own for one test, with a store that is open on it. */
export interface StorePlace<Store> {
  readonly store: Store;
  /** Demanded of a durable store: opens the place again after `store` was closed. */
  reopen?(): Promise<Store>;
  /** Demanded of a shared store: another store object on the same place, while `store` is open. */
  openSecond?(): Promise<Store>;
  /** Removes the place. Every store that was opened on it is closed by then. */
  dispose?(): Promise<void>;
}

/** What a suite must be told about a store. */
export interface StoreUnderTest<Store> {
  readonly name: string;
  readonly capabilities: DeclaredCapabilities;
  /** Makes a fresh, empty place. */
  create(): Promise<StorePlace<Store>>;
}
