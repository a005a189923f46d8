/**
 * Bounds an `LRUCache` by count. Its own `max` allocates the room of all entries at once, which takes the start up to 6 ms for ten
 * thousand of them.
 */
export const boundedByCount = (countMax: number) => ({ maxSize: countMax, sizeCalculation: () => 1 })
