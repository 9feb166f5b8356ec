/** What GitHub's API says about the models that a Copilot login can use. */
export const COPILOT_MODELS = {
  data: [
    {
      id: 'gpt-5.4',
      name: 'GPT-5.4',
      object: 'model',
      vendor: 'openai',
      version: '1',
      preview: false,
      model_picker_enabled: true,
      capabilities: {
        family: 'gpt-5',
        type: 'chat',
        object: 'model_capabilities',
        tokenizer: 'o200k_base',
        limits: { max_context_window_tokens: 128_000, max_output_tokens: 16_000, max_prompt_tokens: 100_000 },
        supports: { tool_calls: true, streaming: true },
      },
      supported_endpoints: ['/chat/completions', '/responses'],
      policy: { state: 'enabled', terms: '' },
      billing: { is_premium: true, multiplier: 1 },
    },
  ],
};
