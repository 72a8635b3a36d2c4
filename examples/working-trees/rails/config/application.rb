require "rails"
require "active_record/railtie"
require "rails/test_unit/railtie"

class Shop < Rails::Application
  config.load_defaults 6.1
  config.eager_load = false
end
