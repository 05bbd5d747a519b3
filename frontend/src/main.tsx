import "./ui/appearance";
import "./app/base.css";
import { DirectionProvider } from "@base-ui/react/direction-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepFresh } from "./api/freshness";
import { queries } from "./api/queries";
import { begin } from "./api/session";
import { router } from "./app/router";
import { dir, loadLanguage } from "./i18n";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element with the id root");

keepFresh(queries);
void begin();
void loadLanguage().then(() =>
  createRoot(root).render(
    <StrictMode>
      <DirectionProvider direction={dir}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </DirectionProvider>
    </StrictMode>,
  ),
);
