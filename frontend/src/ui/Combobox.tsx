import { Combobox as Base } from "@base-ui/react/combobox";
import { useState } from "react";
import { t } from "@/i18n/en/ui";
import { CONTROL, cx, OPTION, POPUP } from "./classes";
import { Icon } from "./Icon";
import type { Choice } from "./Select";

export interface ComboboxProps<V extends string> {
  items: readonly Choice<V>[];
  value: V | null;
  /** Null when it is cleared. */
  onValueChange: (value: V | null) => void;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  clearable?: boolean | undefined;
  name?: string | undefined;
  /** Shown while nothing matches; otherwise words of the kit. */
  empty?: string | undefined;
  "aria-label"?: string | undefined;
  className?: string | undefined;
}

/** One of many, found by typing. */
export function Combobox<V extends string>({
  items,
  value,
  onValueChange,
  placeholder,
  disabled,
  clearable = false,
  name,
  empty,
  className,
  "aria-label": label,
}: ComboboxProps<V>) {
  const [typed, setTyped] = useState("");
  return (
    <Base.Root
      items={items as Choice<V>[]}
      value={items.find((item) => item.value === value) ?? null}
      onValueChange={(item) => onValueChange(item?.value ?? null)}
      onInputValueChange={setTyped}
      isItemEqualToValue={(left, right) => left.value === right.value}
      disabled={disabled}
      name={name}
      autoHighlight
    >
      <Base.InputGroup className={cx("relative flex items-center", className)}>
        <Base.Input aria-label={label} placeholder={placeholder ?? t("choose")} className={cx(CONTROL, "pe-14")} />
        <span className="absolute end-1 flex items-center text-ink-3">
          {clearable && (
            <Base.Clear
              aria-label={t("clear")}
              className="flex size-6 items-center justify-center rounded-sm hover:text-ink"
            >
              <Icon name="cross" size={12} />
            </Base.Clear>
          )}
          <Base.Trigger
            aria-label={t("choose")}
            className="flex size-6 items-center justify-center rounded-sm hover:text-ink"
          >
            <Icon name="chevron-down" size={14} />
          </Base.Trigger>
        </span>
      </Base.InputGroup>
      <Base.Portal>
        <Base.Positioner sideOffset={4} className="z-(--layer-over)">
          <Base.Popup
            className={cx(POPUP, "max-h-[min(24rem,var(--available-height))] w-(--anchor-width) overflow-y-auto p-1")}
          >
            <Base.Empty className="px-2 py-1.5 text-sm text-ink-2 empty:hidden">
              {empty ?? t("noMatch", { text: typed })}
            </Base.Empty>
            <Base.List>
              {(item: Choice<V>) => (
                <Base.Item key={item.value} value={item} disabled={item.disabled} className={cx(OPTION, "py-1")}>
                  <span className="flex size-4 shrink-0 text-accent">
                    <Base.ItemIndicator>
                      <Icon name="check" />
                    </Base.ItemIndicator>
                  </span>
                  <span className="min-w-0 break-words">
                    {item.label}
                    {item.hint && <span className="block text-sm text-ink-2">{item.hint}</span>}
                  </span>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
