/**
 * Parts of Stead that a newer daemon may have and an older one does not: the page shows a place for each as soon as the
 * daemon's own document names what it reads.
 */
import { useQuery } from "@tanstack/react-query";
import { t } from "@/i18n/en/app";

interface Coming {
  path: string;
  title: string;
  /** The operation that tells that it is there. */
  reads: string;
}

const COMING: readonly Coming[] = [
  { path: "/canvas", title: t("canvas"), reads: "/canvas" },
  { path: "/memory", title: t("memory"), reads: "/memories" },
  { path: "/directives", title: t("directives"), reads: "/directives" },
  { path: "/channels", title: t("channels"), reads: "/channels" },
  { path: "/schedules", title: t("schedules"), reads: "/schedules" },
  { path: "/skills", title: t("skills"), reads: "/skills" },
];

/** Those that this daemon has. */
export function useComing(): readonly Coming[] {
  const { data: paths } = useQuery({
    queryKey: ["openapi"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const answer = await fetch("/api/v1/openapi.json");
      if (!answer.ok) throw new Error(`the daemon's document of its API could not be read: ${answer.status}`);
      return Object.keys(((await answer.json()) as { paths: Record<string, unknown> }).paths);
    },
  });
  return COMING.filter((place) => paths?.includes(place.reads));
}
