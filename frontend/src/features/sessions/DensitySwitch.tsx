/** How much of the timeline is shown. */
import { keysOf } from "@/features/keys/shortcuts";
import { t } from "@/i18n/en/story";
import { DENSITIES, useDensity } from "@/story/density";
import { IconButton } from "@/ui/IconButton";
import { Menu } from "@/ui/Menu";

export function DensitySwitch() {
  const density = useDensity((kept) => kept.density);
  const keys = keysOf("density");
  const label = t("density", { density: t(`density_${density}`) });
  return (
    <>
      <Menu
        trigger={<IconButton icon="list" label={label} />}
        entries={[
          { kind: "heading", label: keys ? `${t("densityTitle")} (${keys})` : t("densityTitle") },
          ...DENSITIES.map((one) => ({
            kind: "check" as const,
            label: t(`density_${one}`),
            checked: one === density,
            onCheckedChange: () => useDensity.setState({ density: one }),
          })),
        ]}
      />
      <span role="status" className="sr-only">
        {label}
      </span>
    </>
  );
}
