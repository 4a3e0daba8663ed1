/** The stores that are measured. Not Consul: a double has no cost that a server would have. */
export const STORES = ['memory', 'redis', 'quorum', 'postgres', 'etcd', 'zookeeper'];
