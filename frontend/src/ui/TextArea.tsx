import { Field } from "@base-ui/react/field";
import type { ComponentProps } from "react";
import { CONTROL, cx } from "./classes";

export interface TextAreaProps extends Omit<ComponentProps<"textarea">, "onChange" | "defaultValue" | "value"> {
  value?: string | undefined;
  defaultValue?: string | undefined;
  onValueChange?: ((value: string) => void) | undefined;
  mono?: boolean | undefined;
}

/** Lines of text; it grows with them from `rows` up to half the window. */
export function TextArea({
  mono = false,
  rows = 3,
  className,
  value,
  defaultValue,
  onValueChange,
  ...rest
}: TextAreaProps) {
  return (
    <Field.Control
      value={value}
      defaultValue={defaultValue}
      onValueChange={onValueChange}
      render={
        <textarea
          {...rest}
          rows={rows}
          spellCheck={!mono}
          className={cx(
            CONTROL,
            "h-auto min-h-(--row) field-sizing-content max-h-[50dvh] py-1.5",
            mono && "font-mono",
            className,
          )}
        />
      }
    />
  );
}
