/** What can be done with directives. Each reads the list again; the daemon's word counts. */
import { api, data, type Schema } from "@/api/client";
import { queries, useCommand, withKey } from "@/api/queries";
import type { Written } from "./words";

export async function again(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["directives"] });
}

export function useSave() {
  return useCommand(({ id, version, why, ...fields }: Written & { why: string }, key) =>
    id
      ? data(
          api.PUT("/directives/{id}", {
            params: { path: { id }, ...withKey(key) },
            body: { ...fields, version, why },
          }),
        )
      : data(api.POST("/directives", { params: withKey(key), body: { ...fields, why } })),
  );
}

export function useSwitch() {
  return useCommand(({ id, enabled }: { id: string; enabled: boolean }, key) =>
    data(api.POST("/directives/{id}/switch", { params: { path: { id }, ...withKey(key) }, body: { enabled } })),
  );
}

export function useOrder() {
  return useCommand((ids: string[], key) =>
    data(api.POST("/directives/order", { params: withKey(key), body: { ids } })),
  );
}

export function useRemove() {
  return useCommand((id: string, key) =>
    data(api.DELETE("/directives/{id}", { params: { path: { id }, ...withKey(key) } })),
  );
}

export function useRestore() {
  return useCommand(({ id, version }: { id: string; version: number }, key) =>
    data(api.POST("/directives/{id}/restore", { params: { path: { id }, ...withKey(key) }, body: { version } })),
  );
}

export function useMakeRule() {
  return useCommand((body: Schema["Sentence"], key) => data(api.POST("/rules", { params: withKey(key), body })));
}
